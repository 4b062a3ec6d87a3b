/** What a monitor passes to its watch on a server. */
import type { ServerProtocol } from '../../servers/registry/server-schema.ts';
import type { WatchMemory } from './known-upstream.ts';

export interface WatchOptions {
  transport: 'http' | 'sse';
  maxBytes: number;
  /** How the server spoke the legacy era beside the modern one, if known from before. */
  legacy?: ServerProtocol['legacy'];
  /** Called if the server announced that one of its lists changed, or its stream ended: a discovery is due. */
  onEvent(): void;
  /** Called if the server announced that a resource changed; `params` is raw JSON. */
  onUpdated(uri: string, params: string): void;
  /** Returns the resources to subscribe to. */
  uris(): Promise<readonly string[]>;
  /** Whether changes of lists are wanted by themselves, and not only beside those of resources. */
  wantsLists: boolean;
  memory: WatchMemory;
}
