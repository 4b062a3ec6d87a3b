/** What a monitor gives its relation to a server. */
import type { Verdict } from '../../servers/registry/server-schema.ts';
import type { WatchMemory } from './known-upstream.ts';

export interface WatchOptions {
  transport: 'http' | 'sse';
  maxBytes: number;
  /** How the server spoke the legacy era beside the modern one, where that is known of before. */
  legacy?: Verdict['legacy'];
  /** The server told that one of its lists changed, or its stream ended: it is worth a look. */
  onEvent(): void;
  /** The server told that a resource changed; `params` is raw JSON. */
  onUpdated(uri: string, params: string): void;
  /** The resources to hear of. */
  uris(): Promise<readonly string[]>;
  /** Changes of lists are wanted for themselves, and not only beside those of resources. */
  hearsLists: boolean;
  memory: WatchMemory;
}
