/** Tells the Worker's own types what `env` and `exports` of "cloudflare:workers" hold in the worker project. */
declare namespace Cloudflare {
  type PorticoEnv = import('../../src/env.ts').Env;

  interface GlobalProps {
    mainModule: typeof import('../../src/index.ts');
    durableNamespaces: 'AccessNews' | 'AuditLog' | 'ClientSession' | 'Connector' | 'ServerMonitor';
  }

  interface Env extends PorticoEnv {
    TEST_MIGRATIONS: import('cloudflare:test').D1Migration[];
  }
}
