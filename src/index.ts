/** The Worker's entry: hands requests to the application, which is built once per isolate. */
import { createApp, type App } from './app.ts';
import { wire } from './wire.ts';

export { AuditLog } from './audit/audit-log-object.ts';
export { Connector } from './connectors/connector-object.ts';
export { ResultCache } from './cache/result-cache-object.ts';
export { ClientSession } from './session/client-session-object.ts';
export { ServerMonitor } from './catalog/server-monitor-object.ts';
export { AccessNews } from './access/access-news-object.ts';

const apps = new WeakMap<Env, App>();

export default {
  fetch(request, env, context) {
    let app = apps.get(env);
    if (!app) {
      app = createApp(wire(env));
      apps.set(env, app);
    }
    return app.fetch(request, context);
  },
} satisfies ExportedHandler<Env>;
