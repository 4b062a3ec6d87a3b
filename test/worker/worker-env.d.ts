/** Tells the Worker's own types what `env` of "cloudflare:workers" holds in the worker project beside the bindings of wrangler.toml. */
declare namespace Cloudflare {
  interface Env {
    TEST_MIGRATIONS: import('cloudflare:test').D1Migration[];
    PORTICO_KEYS: string;
    PORTICO_ADMIN_TOKEN: string;
  }
}
