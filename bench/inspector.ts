/** A command channel to workerd's inspector (Chrome DevTools Protocol), for profiles and an isolate's memory use. */

export interface CpuProfile {
  nodes: {
    id: number;
    children?: number[];
    callFrame: { functionName: string; scriptId: string; url: string; lineNumber: number };
  }[];
  samples: number[];
  timeDeltas: number[];
}

/** In bytes. */
interface HeapUsage {
  usedSize: number;
  embedderHeapUsedSize: number;
  /** Array buffers, which are outside the heap. */
  backingStorageSize: number;
}

interface CommandAnswer {
  id?: number;
  error?: { message: string };
  result?: { profile?: CpuProfile; scriptSource?: string } & Partial<HeapUsage>;
}

/** A command channel to the inspector of one Worker. */
export interface Inspector {
  send(method: string, params?: Record<string, unknown>): Promise<CommandAnswer>;
  close(): void;
}

export async function openInspector(port: number, worker: string): Promise<Inspector> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/core:user:${worker}`);
  const waiting = new Map<number, PromiseWithResolvers<CommandAnswer>>();
  const opened = Promise.withResolvers<void>();
  socket.addEventListener('open', () => opened.resolve());
  socket.addEventListener('close', () => {
    const error = new Error('the inspector closed the connection');
    opened.reject(error);
    for (const { reject } of waiting.values()) reject(error);
  });
  socket.addEventListener('message', ({ data }) => {
    const answer: CommandAnswer = JSON.parse(String(data));
    if (answer.id === undefined) return;
    if (answer.error) waiting.get(answer.id)?.reject(new Error(answer.error.message));
    else waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
  });
  await opened.promise;
  let lastId = 0;
  return {
    send(method, params = {}) {
      lastId += 1;
      const answered = Promise.withResolvers<CommandAnswer>();
      waiting.set(lastId, answered);
      socket.send(JSON.stringify({ id: lastId, method, params }));
      return answered.promise;
    },
    close: () => socket.close(),
  };
}

/** Memory of an isolate in bytes, including garbage not yet collected. */
export async function usedBytes({ send }: Inspector): Promise<number> {
  const { result = {} } = await send('Runtime.getHeapUsage');
  const { usedSize = Number.NaN, embedderHeapUsedSize = 0, backingStorageSize = 0 } = result;
  return usedSize + embedderHeapUsedSize + backingStorageSize;
}
