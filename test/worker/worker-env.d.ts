/** Tells the Worker's own types what `env` of "cloudflare:workers" contains in the worker project besides the bindings of wrangler.toml. */
declare namespace Cloudflare {
  interface Env {
    TEST_MIGRATIONS: import('cloudflare:test').D1Migration[];
    PORTICO_KEYS: string;
    PORTICO_ADMIN_TOKEN: string;
  }
}
