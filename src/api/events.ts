/**
 * `/api/v1/events`: notifies a caller of changes to what the caller sees. An event says only what kind of thing changed; the caller reads
 * the rest with other routes.
 */
import { z } from 'zod';
import { requireServerScope } from '../shared/identity/principal.ts';
import { toEventStream } from './event-stream.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { snapshotNow } from './request-context.ts';
import { CHANGES, watchChanges, WATCH_SCOPE } from './watch-changes.ts';
import { pause } from '../shared/util/pause.ts';

/** Longest silence, in milliseconds. */
const SILENCE_MS = 5_000;

const EventSchema = z
  .object({ changed: z.array(z.enum(CHANGES)) })
  .meta({ id: 'ChangeEvent', description: 'Data of an event `changed`' });

const watch = createRoute({
  method: 'get',
  path: '/api/v1/events',
  operationId: 'watchChanges',
  tags: ['events'],
  summary: 'Watch changes as they happen',
  description:
    'An event stream. `watching` comes first, then `changed` within about two seconds: `servers` if a server, its state, its tools or ' +
    'its held definitions changed; `access`, for administrators, if a rule, a toolset or a budget changed. Get the new state from ' +
    'the other routes. The stream ends after five minutes, when the caller may no longer watch, with an `error`, and when the ' +
    'gateway stops: open another one then.',
  ...needs(WATCH_SCOPE),
  responses: responsesOf(200, 'Events', EventSchema, {
    type: 'text/event-stream',
    example: { changed: ['servers' as const] },
  }),
});

/** Adds the route. */
export function registerEvents(api: Api, { snapshots, openStreams, drain }: ApiPorts): void {
  api.openapi(watch, context => {
    const { snapshot } = context.var;
    const { caller } = snapshot;
    requireServerScope(caller, WATCH_SCOPE);
    drain?.check();
    const gone = new AbortController();
    const release = openStreams.open(caller.principalId);
    const { signal } = context.req.raw;
    return toEventStream({
      silenceMs: SILENCE_MS,
      onGone: () => gone.abort(),
      onEnd: release,
      async run(send) {
        send('watching', '{}');
        const ports = {
          load: () => snapshotNow(context, snapshots),
          wait: (ms: number) => pause(ms, gone.signal),
          isOver: () => gone.signal.aborted || signal.aborted || drain?.isStopping === true,
        };
        await watchChanges(snapshot, ports, changed =>
          send('changed', JSON.stringify({ changed })),
        );
      },
    }) as never;
  });
}
