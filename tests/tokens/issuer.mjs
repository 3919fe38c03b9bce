// A fake OpenID issuer on loopback: discovery, JWKS and userinfo, each with a counter and a switch for every way of
// misbehaving. It signs whatever it is asked to sign, also what no honest issuer would.
import { constants, createHmac, createPublicKey, generateKeyPairSync, randomBytes, sign as cryptoSign } from "node:crypto";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";

export const b64 = (bytes) => Buffer.from(bytes).toString("base64url");

/** A key pair. `jwk` has what the issuer publishes; `extra` adds to it or, with undefined, takes from it. */
export function makeKey(kid, type = "rsa", options = {}, extra = {}) {
  const { publicKey, privateKey } = {
    rsa: () => generateKeyPairSync("rsa", { modulusLength: 2048, ...options }),
    "rsa-pss": () => generateKeyPairSync("rsa-pss", { modulusLength: 2048, ...options }),
    ec: () => generateKeyPairSync("ec", { namedCurve: "P-256", ...options }),
    ed25519: () => generateKeyPairSync("ed25519"),
    ed448: () => generateKeyPairSync("ed448"),
  }[type]();
  const jwk = JSON.parse(JSON.stringify({ ...publicKey.export({ format: "jwk" }), kid, use: "sig", ...extra }));
  return { kid, type, publicKey, privateKey, jwk };
}

/** The signature of `input` as the algorithm of a JWS wants it. */
export function signature(alg, key, input, { saltLength, secret, dsaEncoding = "ieee-p1363" } = {}) {
  const data = Buffer.from(input);
  const hash = `sha${alg.slice(2)}`;
  switch (alg.slice(0, 2)) {
    case "RS":
      return cryptoSign(hash, data, { key: key.privateKey, padding: constants.RSA_PKCS1_PADDING });
    case "PS":
      return cryptoSign(hash, data, {
        key: key.privateKey,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: saltLength ?? constants.RSA_PSS_SALTLEN_DIGEST,
      });
    case "ES":
      return cryptoSign(hash, data, { key: key.privateKey, dsaEncoding });
    case "HS":
      return createHmac(hash, secret).update(data).digest();
    case "Ed":
      return cryptoSign(null, data, key.privateKey);
    default:
      throw new Error(`no such algorithm: ${alg}`);
  }
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/**
 * A compact JWS. `header` is added to {alg, kid, typ} (undefined removes a member); a header or claims given as a string
 * are taken as they are, so that JSON which no serializer writes can be signed. `as` signs with another algorithm than
 * the header says.
 */
export function jws(key, claims, { alg = "RS256", as = alg, header = {}, encode = b64, ...options } = {}) {
  const head = typeof header === "string" ? header : { alg, kid: key?.kid, typ: "at+jwt", ...header };
  const input = `${encode(text(head))}.${encode(text(claims))}`;
  const bytes = as === "none" ? Buffer.alloc(0) : signature(as, key, input, options);
  return `${input}.${b64(bytes)}`;
}

/** The public key in every form that somebody may take for an HMAC secret. */
export function publicKeyForms(key) {
  const pem = key.publicKey.export({ type: "spki", format: "pem" });
  const pkcs1 = key.publicKey.export({ type: "pkcs1", format: "pem" });
  const { kty, n, e } = key.jwk;
  return {
    "spki PEM": pem,
    "spki PEM without newline": pem.trimEnd(),
    "spki PEM with CRLF": pem.replaceAll("\n", "\r\n"),
    "pkcs1 PEM": pkcs1,
    "pkcs1 PEM without newline": pkcs1.trimEnd(),
    "spki DER": key.publicKey.export({ type: "spki", format: "der" }),
    "pkcs1 DER": key.publicKey.export({ type: "pkcs1", format: "der" }),
    "JWK": JSON.stringify(key.jwk),
    "JWK thumbprint form": JSON.stringify({ e, kty, n }),
    "modulus, encoded": n,
    "modulus": Buffer.from(n, "base64url"),
    "empty": "",
    "kid": key.kid,
  };
}

/** Replies that are not what the issuer should say. Use as `issuer.replies.jwks = replies.huge(…)`. */
export const replies = {
  status: (status, body = "{}") => (_, response) => response.writeHead(status).end(body),
  body: (body, headers = {}) => (_, response) =>
    response.writeHead(200, { "content-type": "application/json", ...headers }).end(body),
  redirect: (location, status = 302) => (_, response) => response.writeHead(status, { location }).end(),
  /** Accepts the request and says nothing. */
  hang: () => () => {},
  /** Sends the head, and then a byte now and then, for ever. */
  drip: (every = 300) => (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write(" "), every);
    response.on("close", () => clearInterval(timer));
  },
  /** The right document after `ms`. */
  slow: (ms) => (request, response, usual) => void setTimeout(() => usual(request, response), ms),
  /** Ends in the middle, although the length says otherwise. */
  cut: (body) => (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
    response.write(body.slice(0, body.length / 2), () => response.destroy());
  },
  /** The right document with `bytes` of white space. `declared` sends a Content-Length. */
  padded: (bytes, { declared = true } = {}) => (request, response, usual, document) => {
    const body = Buffer.concat([Buffer.from(JSON.stringify(document())), Buffer.alloc(bytes, " ")]);
    response.writeHead(200, { "content-type": "application/json", ...(declared && { "content-length": body.length }) });
    response.end(body);
  },
  /** Writes for as long as the other side reads; `sent.bytes` is how much it took. */
  endless: (sent) => (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(65536, " ");
    const more = () => {
      while (!response.destroyed && sent.bytes < 64 << 20) {
        sent.bytes += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  },
  gzipBomb: (bytes) => {
    const body = gzipSync(Buffer.alloc(bytes, " "));
    return replies.body(body, { "content-encoding": "gzip" });
  },
};

export class Issuer {
  /** Requests so far. `others` has the paths that nobody should ask for. */
  counts = { discovery: 0, jwks: 0, userinfo: 0, others: [] };
  /** The most requests that were open at once. */
  mostAtOnce = 0;
  replies = {};
  keys = [];
  cacheControl = undefined;
  /** Members of the discovery document that differ from the honest one. */
  document = {};
  #open = 0;
  #server;

  /** `path` is that of the issuer's URL, `""` or `"/"` or `"/realms/a"`. */
  static async start(path = "") {
    const issuer = new Issuer();
    issuer.path = path;
    await issuer.#listen(0);
    issuer.port = issuer.#server.address().port;
    issuer.base = `http://127.0.0.1:${issuer.port}`;
    issuer.url = issuer.base + path;
    return issuer;
  }

  #listen(port) {
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.unref();
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject).listen(port, "127.0.0.1", resolve);
    });
  }

  /** Refuses connections, and ends those that are open. */
  down() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  up() {
    return this.#listen(this.port);
  }

  discovery() {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.base}/authorize`,
      token_endpoint: `${this.base}/token`,
      jwks_uri: `${this.base}/jwks`,
      userinfo_endpoint: `${this.base}/userinfo`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      ...this.document,
    };
  }

  jwks() {
    return { keys: this.keys.map((key) => key?.jwk ?? key) };
  }

  #answer(request, response) {
    const { pathname } = new URL(request.url, this.base);
    const prefix = this.path.replace(/\/$/, "");
    const kind = {
      [`${prefix}/.well-known/openid-configuration`]: "discovery",
      "/jwks": "jwks",
      "/userinfo": "userinfo",
    }[pathname];
    this.#open += 1;
    response.on("close", () => (this.#open -= 1));
    // Counted a moment later: a connection that was given up may end after the next one has begun.
    setTimeout(() => (this.mostAtOnce = Math.max(this.mostAtOnce, this.#open)), 40).unref();
    if (!kind) {
      this.counts.others.push(pathname);
      return this.replies.others ? this.replies.others(request, response) : void response.writeHead(404).end();
    }
    this.counts[kind] += 1;
    const document = { discovery: () => this.discovery(), jwks: () => this.jwks(), userinfo: () => ({ sub: "nobody" }) }[kind];
    const usual = (_, to) => {
      const headers = { "content-type": "application/json" };
      if (this.cacheControl !== undefined) headers["cache-control"] = this.cacheControl;
      to.writeHead(200, headers).end(JSON.stringify(document()));
    };
    (this.replies[kind] ?? usual)(request, response, usual, document);
  }

  /** Claims that are all right for `audience`; `change` replaces some, undefined removes. */
  claims(audience, change = {}) {
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: this.url, sub: "user-1", aud: audience, iat: now, exp: now + 600, scope: "library.read", jti: randomBytes(8).toString("hex") };
    return { ...all, ...change };
  }
}

/** A server that should never be asked: its URLs stand in headers of tokens. */
export async function trap(keys) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys: keys.map((key) => key.jwk) }));
  });
  server.unref();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { asked, url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** n of a JWK as a number, for arithmetic on RSA signatures. */
export const toNumber = (bytes) => BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`);
export const toBytes = (number, length) => Buffer.from(number.toString(16).padStart(length * 2, "0"), "hex");
export const pemOf = (jwk) => createPublicKey({ key: jwk, format: "jwk" }).export({ type: "spki", format: "pem" });
