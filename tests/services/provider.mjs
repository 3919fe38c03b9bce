// The OpenID provider of the sign-in tests, as services need it: several people, the five scopes, and access tokens that
// contain what `account.inToken` says about the e-mail address. npm's `oidc-provider`, certified by the OpenID Foundation.
import http from "node:http";
import { generateKeyPairSync } from "node:crypto";
import { Provider, errors } from "oidc-provider";
import { allScopes } from "./parts.mjs";

/** Starts it. `provider.account` is who sits at the browser: `{sub, email, email_verified, inToken}`. */
export async function startProvider(t) {
  const scopes = [...allScopes, "answers.use"];
  const state = { resources: new Set(), issued: new Set(), requests: {}, authorizations: [], account: undefined, consent: (requested) => requested };
  const accounts = new Map();
  const server = http.createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))));
  state.issuer = `http://127.0.0.1:${server.address().port}`;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const claims = ({ sub, email, email_verified }) => ({ sub, email, email_verified });
  const provider = new Provider(state.issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "key-1", use: "sig", alg: "RS256" }] },
    clients: [],
    cookies: { keys: ["only for tests"] },
    scopes: ["openid", "email", "offline_access", ...scopes],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    pkce: { required: () => true },
    clientDefaults: { id_token_signed_response_alg: "RS256" },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => [],
        useGrantedResource: () => true,
        getResourceServerInfo: (_, indicator) => {
          if (!state.resources.has(indicator)) throw new errors.InvalidTarget(`unknown resource ${indicator}`);
          return { scope: scopes.join(" "), audience: indicator, accessTokenFormat: "jwt", accessTokenTTL: 600, jwt: { sign: { alg: "RS256" } } };
        },
      },
    },
    extraTokenClaims: (_, token) => accounts.get(token.accountId)?.inToken,
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => claims(accounts.get(id)) }),
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 3600, IdToken: 600, Interaction: 60, Session: 3600 },
  });
  provider.on("server_error", (_, error) => console.error("provider:", error));

  async function interact(request, response) {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === "login") {
      accounts.set(state.account.sub, state.account);
      return provider.interactionFinished(request, response, { login: { accountId: state.account.sub } });
    }
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(" "));
    for (const [resource, missing] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
      const allowed = state.consent(missing);
      if (allowed.length) grant.addResourceScope(resource, allowed.join(" "));
      const refused = missing.filter((scope) => !allowed.includes(scope));
      if (refused.length) grant.rejectResourceScope(resource, refused.join(" "));
    }
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }

  const callback = provider.callback();
  server.on("request", (request, response) => {
    const { pathname, searchParams } = new URL(request.url, state.issuer);
    state.requests[pathname] = (state.requests[pathname] ?? 0) + 1;
    if (pathname === "/auth") state.authorizations.push(Object.fromEntries(searchParams));
    if (!pathname.startsWith("/interaction/")) return callback(request, response);
    return interact(request, response).catch((error) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  return state;
}
