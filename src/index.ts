/** The Worker's entry: hands requests to the application, which is built once per isolate. */
import { createApp, type App } from './app.ts';
import { compose } from './compose.ts';

export { AuditLog } from './objects/audit-log-object.ts';
export { CallChain } from './objects/call-chain-object.ts';
export { Connector } from './objects/connector-object.ts';
export { ResultCache } from './objects/result-cache-object.ts';
export { ClientSession } from './objects/client-session-object.ts';
export { ServerMonitor } from './objects/server-monitor-object.ts';
export { Webhooks } from './objects/webhooks-object.ts';
export { AccessChanges } from './objects/access-changes-object.ts';

const apps = new WeakMap<Env, App>();

export default {
  fetch(request, env, context) {
    let app = apps.get(env);
    if (!app) {
      app = createApp(compose(env));
      apps.set(env, app);
    }
    const answer = Promise.resolve(app.fetch(request, context));
    // Without `waitUntil`, the work of a request stops when its client resets the connection, which would leave counters and writes half
    // done.
    context.waitUntil(answer.catch(() => {}));
    return answer;
  },
} satisfies ExportedHandler<Env>;
