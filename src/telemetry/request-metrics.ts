/**
 * Counters and histograms of this isolate's requests since it started, in memory. Their number is bounded: once there is no room for more
 * tools or servers, the others are counted together as `other`.
 */
import { isDenial } from '../shared/errors/denials.ts';
import type { Family, Labels, Sample } from './exposition.ts';
import { Histogram } from './histogram.ts';
import type { EndedOperation } from './operation.ts';

/** Most series per family, and the label for everything beyond. */
const MAX_SERIES = 2_000;
const OTHER = 'other';
/** Methods that become a label; a client may send any text. */
const METHODS = new Set([
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'subscriptions/listen',
  'completion/complete',
  'logging/setLevel',
  'tasks/get',
  'tasks/result',
  'tasks/update',
  'tasks/cancel',
  'batch',
  'notification',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/** The series of one family, by their labels. */
class Series<T> {
  readonly #byKey = new Map<string, { labels: Labels; of: T }>();
  readonly #create: () => T;

  constructor(create: () => T) {
    this.#create = create;
  }

  /** @param shorten labels to use where there is no room */
  of(labels: Labels, shorten: Labels): T {
    const key = Object.values(labels).join('\0');
    const known = this.#byKey.get(key);
    if (known) return known.of;
    if (this.#byKey.size >= MAX_SERIES && shorten !== labels) return this.of(shorten, shorten);
    const made = { labels, of: this.#create() };
    this.#byKey.set(key, made);
    return made.of;
  }

  samples(isShown: (server: string) => boolean, toSamples: (of: T, labels: Labels) => Sample[]) {
    return [...this.#byKey.values()].flatMap(({ labels, of }) =>
      isShown(labels['server'] ?? '') ? toSamples(of, labels) : [],
    );
  }
}

interface Count {
  n: number;
}
const counts = () => new Series<Count>(() => ({ n: 0 }));
const histograms = () => new Series(() => new Histogram());
const toCount = ({ n }: Count, labels: Labels): Sample[] => [{ labels, value: n }];
const toBuckets = (histogram: Histogram, labels: Labels) => histogram.samples(labels);

export class RequestMetrics {
  readonly #requests = counts();
  readonly #denials = counts();
  readonly #hits = counts();
  readonly #questions = counts();
  readonly #durations = histograms();
  readonly #gateway = histograms();
  readonly #upstream = histograms();

  /** Counts an ended request. @param isKept whether its trace is kept */
  add(operation: EndedOperation, isKept: boolean): void {
    const { startedAt, durationMs, upstreamMs, outcome, code, server = '', trace } = operation;
    const traceId = isKept ? trace?.traceId : undefined;
    const method = METHODS.has(operation.method ?? '') ? (operation.method ?? OTHER) : OTHER;
    const era = operation.era ?? operation.source ?? OTHER;
    const all = { server, tool: operation.tool ?? '', method, era, outcome };
    this.#requests.of(all, { ...all, server: OTHER, tool: OTHER }).n += 1;
    const kind = { method, era };
    this.#durations.of(kind, kind).add(durationMs / 1_000, traceId, startedAt);
    if (!operation.usesModel) {
      const own = Math.max(0, durationMs - upstreamMs) / 1_000;
      this.#gateway.of(kind, kind).add(own, traceId, startedAt);
    }
    if (typeof code === 'string' && (isDenial(code) || code === 'unauthorized')) {
      this.#denials.of({ code }, { code }).n += 1;
    }
    if (operation.isHit) this.#hits.of({ server }, { server: OTHER }).n += 1;
    for (const sending of operation.sendings) {
      const labels = { server: sending.server };
      const other = { server: OTHER };
      this.#upstream.of(labels, other).add(sending.durationMs / 1_000, traceId, sending.startedAt);
      if (sending.questions > 0) this.#questions.of(labels, other).n += sending.questions;
    }
  }

  /** @param isShown whether the scraper may see a server; the empty name stands for requests without a server */
  families(isShown: (server: string) => boolean): Family[] {
    const counters = [
      [this.#requests, 'requests', 'Requests by server, tool, method, era and outcome.'],
      [
        this.#denials,
        'denials',
        'Requests that were refused: no permission, past a limit, or unknown.',
      ],
      [this.#hits, 'cache_hits', 'Calls that were answered from the cache.'],
      [this.#questions, 'questions', 'Requests that servers sent to clients during a call.'],
    ] as const;
    const durations = [
      [this.#durations, 'request', 'Time of requests.'],
      [
        this.#gateway,
        'gateway',
        'Time of requests without the time spent waiting for servers; not of asks and chats.',
      ],
      [this.#upstream, 'upstream', 'Time of requests to servers.'],
    ] as const;
    return [
      ...counters.map(([series, name, help]): Family => ({
        name: `portico_${name}_total`,
        type: 'counter',
        help,
        samples: series.samples(isShown, toCount),
      })),
      ...durations.map(([series, name, help]): Family => ({
        name: `portico_${name}_duration_seconds`,
        type: 'histogram',
        help,
        samples: series.samples(isShown, toBuckets),
      })),
    ];
  }
}
