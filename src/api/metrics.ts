/** `/metrics`: metrics of servers and requests for a scraper (PRD AG-US5). */
import { z } from 'zod';
import { toServerFamilies } from '../servers/health/metrics.ts';
import { administersAll } from '../shared/identity/principal.ts';
import { PROMETHEUS, toMetricsText, toTextForm, type Family } from '../telemetry/exposition.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';

const metrics = createRoute({
  method: 'get',
  path: '/metrics',
  operationId: 'getMetrics',
  tags: ['health'],
  summary: 'Servers and requests in the text format of Prometheus',
  description:
    'OpenMetrics, with trace ids as exemplars, if `Accept` names it. A caller who does not administer everything gets the servers that they ' +
    'administer, and the requests to these. Requests are counted where one process serves them all; on Cloudflare they are data points of ' +
    'Analytics Engine.',
  ...needs('servers:read'),
  responses: responsesOf(200, 'Metrics', z.string(), {
    type: PROMETHEUS.type,
    example: 'portico_server_up{server="github"} 1\n',
  }),
});

/** Adds the route. */
export function registerMetrics(api: Api, ports: ApiPorts): void {
  const { health, telemetry, openStreams, usage } = ports;
  api.openapi(metrics, async context => {
    const { caller } = context.var.snapshot;
    const servers = await health.measure(caller);
    const names = new Set(servers.map(({ name }) => name));
    const seesAll = administersAll(caller);
    const isShown = (server: string) => seesAll || names.has(server);
    const now = Date.now();
    const own = seesAll ? [toStreams(openStreams.all), toTokens(await usage.today(now))] : [];
    const families = [...toServerFamilies(servers, now), ...telemetry.families(isShown), ...own];
    const form = toTextForm(context.req.header('accept'));
    return context.text(toMetricsText(families, form), 200, { 'content-type': form.type });
  });
}

const toStreams = (open: number): Family => ({
  name: 'portico_open_streams',
  type: 'gauge',
  help: 'Event streams of clients that are open.',
  samples: [{ labels: {}, value: open }],
});

const toTokens = (usage: readonly { purpose: string; tokens: number }[]): Family => ({
  name: 'portico_model_tokens_today',
  type: 'gauge',
  help: 'Tokens of language models that were used on this UTC day, by purpose.',
  samples: usage.map(({ purpose, tokens }) => ({ labels: { purpose }, value: tokens })),
});
