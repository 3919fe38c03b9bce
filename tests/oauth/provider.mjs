// A real OpenID provider on loopback: npm's `oidc-provider`, which is certified by the OpenID Foundation. It issues JWT
// access tokens (RS256) for the resources that the test names (RFC 8707), registers clients dynamically and requires PKCE.
// One person, Hana, signs in and consents by herself; `userAgent` is her browser.
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import http from "node:http";
import { Provider, errors } from "oidc-provider";

export const hana = { accountId: "hana-1", email: "hana@example.com", email_verified: true };
export const scopes = ["library.read", "library.write", "answers.use", "metrics.read"];

let keys = 0;
function signingKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid: `key-${++keys}`, use: "sig", alg: "RS256" };
}

/** What the provider stores: kept when it restarts or rotates its keys. */
function memory() {
  const rows = new Map();
  return class Memory {
    constructor(model) {
      this.key = (id) => `${model}:${id}`;
    }
    upsert = async (id, payload) => void rows.set(this.key(id), payload);
    find = async (id) => rows.get(this.key(id));
    findByUid = async (uid) => [...rows.values()].find((row) => row.kind === "Session" && row.uid === uid);
    findByUserCode = async () => undefined;
    consume = async (id) => void (rows.get(this.key(id)).consumed = Math.floor(Date.now() / 1000));
    destroy = async (id) => void rows.delete(this.key(id));
    revokeByGrantId = async (grantId) => {
      for (const [key, row] of rows) if (row.grantId === grantId) rows.delete(key);
    };
  };
}

/**
 * Starts a provider. `resources` is the set of resources (audiences) that it knows; it may grow. Of its members:
 * `consent(scopes)` says which of the requested scopes Hana allows; `tokenAge` makes the next access tokens that many
 * seconds older than they are; `issued` has every token, code and secret that ever left; `requests` counts requests by path.
 */
export async function startProvider(t, { resources = new Set(), refresh = false, port = 0 } = {}) {
  const state = { resources, consent: (requested) => requested, tokenAge: 0, issued: new Set(), requests: {}, authorizations: [] };
  const adapter = memory();
  let provider;

  const configuration = (jwks) => ({
    adapter,
    jwks: { keys: jwks },
    clients: [],
    cookies: { keys: ["only for tests"] },
    // Also for dynamic registration: clients register the scopes that they are going to ask for.
    scopes: ["openid", "offline_access", ...scopes],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    pkce: { required: () => true },
    clientDefaults: { id_token_signed_response_alg: "RS256" },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        // The audience is what the client asked for; a provider that guesses would hide a client that does not ask.
        defaultResource: () => [],
        useGrantedResource: () => true,
        getResourceServerInfo: (_, indicator) => {
          if (!state.resources.has(indicator)) throw new errors.InvalidTarget(`unknown resource ${indicator}`);
          return { scope: scopes.join(" "), audience: indicator, accessTokenFormat: "jwt", accessTokenTTL: 600, jwt: { sign: { alg: "RS256" } } };
        },
      },
    },
    formats: {
      customizers: {
        jwt: (_, __, token) => {
          token.payload.iat -= state.tokenAge;
          token.payload.exp -= state.tokenAge;
        },
      },
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: () => ({ accountId: hana.accountId, claims: () => ({ sub: hana.accountId, email: hana.email, email_verified: hana.email_verified }) }),
    issueRefreshToken: (_, client) => refresh && client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 3600, IdToken: 600, Interaction: 60, RefreshToken: 3600, Session: 3600 },
  });

  async function interact(request, response) {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === "login") {
      return provider.interactionFinished(request, response, { login: { accountId: hana.accountId } });
    }
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(" "));
    for (const [resource, missing] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
      const allowed = state.consent(missing);
      const refused = missing.filter((scope) => !allowed.includes(scope));
      if (allowed.length) grant.addResourceScope(resource, allowed.join(" "));
      if (refused.length) grant.rejectResourceScope(resource, refused.join(" "));
    }
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }

  const server = http.createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://provider");
    state.requests[pathname] = (state.requests[pathname] ?? 0) + 1;
    if (pathname === "/auth") state.authorizations.push(Object.fromEntries(searchParams));
    if (!pathname.startsWith("/interaction/")) return provider.callback()(request, response);
    return interact(request, response).catch((error) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  const listen = () => new Promise((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  await listen();
  port = server.address().port;
  const issuer = `http://127.0.0.1:${port}`;
  const use = (jwks) => {
    provider = new Provider(issuer, configuration(jwks));
    provider.on("server_error", (_, error) => console.error("provider:", error));
  };
  use([signingKey()]);
  const close = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  t.after(close);

  return Object.assign(state, {
    issuer,
    /** From now on another key signs, and the old one is no longer published. */
    rotate: () => use([signingKey()]),
    /** The provider is down, and up again on the same port. */
    down: close,
    up: listen,
  });
}

/** A browser: follows redirects from `url` with cookies until one leads to `redirectUrl`, and returns that one. */
export async function userAgent(url, redirectUrl) {
  const cookies = new Map();
  let next = new URL(url);
  for (let hops = 0; hops < 12; hops++) {
    if (next.href.startsWith(redirectUrl)) return next;
    const response = await fetch(next, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
      cookies.set(name, value);
    }
    const [location, page] = [response.headers.get("location"), await response.text()];
    assert.ok(location, `${next.pathname}: ${response.status} ${page}`);
    next = new URL(location, next);
  }
  throw new Error("the sign-in does not end");
}

/** The claims of a JWT, unverified. */
export const claims = (token) => JSON.parse(Buffer.from(token.split(".")[1], "base64url"));

/** What an MCP client remembers about its sign-in; `redirectToAuthorization` is where its browser opens. */
export class Person {
  redirectUrl = "http://127.0.0.1:6499/callback";
  /** The redirect of the last sign-in: its code and the issuer. */
  callback = undefined;
  #client;
  #tokens;
  #verifier;
  #discovery;

  constructor(provider, { grantTypes = ["authorization_code"] } = {}) {
    this.provider = provider;
    this.clientMetadata = {
      client_name: "client tests",
      redirect_uris: [this.redirectUrl],
      grant_types: grantTypes,
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
    };
  }
  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client) {
    this.#client = client;
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens) {
    this.#tokens = tokens;
    for (const secret of [tokens.access_token, tokens.refresh_token]) if (secret) this.provider.issued.add(secret);
  }
  codeVerifier() {
    return this.#verifier;
  }
  saveCodeVerifier(verifier) {
    this.#verifier = verifier;
    this.provider.issued.add(verifier);
  }
  discoveryState() {
    return this.#discovery;
  }
  saveDiscoveryState(discovery) {
    this.#discovery = discovery;
  }
  state() {
    return (this.expectedState = crypto.randomUUID());
  }
  async redirectToAuthorization(url) {
    this.callback = (await userAgent(url, this.redirectUrl)).searchParams;
    assert.equal(this.callback.get("error"), null, this.callback.get("error_description"));
    assert.equal(this.callback.get("state"), this.expectedState);
    this.provider.issued.add(this.callback.get("code"));
  }
}

/** Registers a client and signs in without any MCP client: the reply of the token endpoint. */
export async function signIn(provider, { resource, scope }) {
  const redirectUrl = "http://127.0.0.1:6499/callback";
  const post = async (path, body, type) => {
    const response = await fetch(provider.issuer + path, { method: "POST", headers: { "content-type": type }, body });
    assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`);
    return response.json();
  };
  const registration = { redirect_uris: [redirectUrl], token_endpoint_auth_method: "none", application_type: "native" };
  const { client_id } = await post("/reg", JSON.stringify(registration), "application/json");
  const verifier = randomBytes(32).toString("base64url");
  const ask = new URL("/auth", provider.issuer);
  ask.search = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri: redirectUrl,
    scope,
    resource,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const { searchParams } = await userAgent(ask, redirectUrl);
  assert.equal(searchParams.get("error"), null, searchParams.get("error_description"));
  const form = { grant_type: "authorization_code", code: searchParams.get("code"), redirect_uri: redirectUrl, client_id, code_verifier: verifier, resource };
  const tokens = await post("/token", new URLSearchParams(form).toString(), "application/x-www-form-urlencoded");
  for (const secret of [tokens.access_token, tokens.id_token, form.code, verifier]) if (secret) provider.issued.add(secret);
  return tokens;
}
