/** What a deployment may have beside the bindings of wrangler.toml, from which the rest of `Env` is generated. Settings are `config.ts`. */
interface Env {
  /** Key ring, JSON: see `src/shared/crypto/key-ring.ts`. */
  PORTICO_KEYS?: string;
  /** The set-up admin token; absent where none is wanted. */
  PORTICO_ADMIN_TOKEN?: string;
  /** The platform's own models. */
  AI?: import('./src/models/ai-port.ts').AiBinding;
  /** With it the local host ends the gateway (`http/drain.ts`). */
  LOCAL_DRAIN_KEY?: string;
  /** A dataset of Analytics Engine, where the deployment has one. */
  METRICS?: AnalyticsEngineDataset;
  /** The log of requests; the local host alone has one. */
  LINES?: Fetcher;
  /** A folder of traces; the local host alone has one. */
  TRACES?: Fetcher;
}
