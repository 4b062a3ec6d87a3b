/** An SDK client of the legacy era opens its notification stream in the background: a fetch for it that reports when the stream is open. */

export interface WatchedStream {
  fetch: (input: string | URL, init?: RequestInit) => Promise<Response>;
  /** Resolves at the first event, which the gateway sends once its object knows the stream. */
  isOpen: Promise<void>;
}

/** Creates one per client. */
export function watchStream(): WatchedStream {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    isOpen: promise,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method !== 'GET' || !response.ok || !response.body) return response;
      const seen = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          resolve();
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body.pipeThrough(seen), response);
    },
  };
}
