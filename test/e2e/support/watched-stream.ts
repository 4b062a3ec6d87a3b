/** An SDK client of the legacy era opens its standing stream in the background: a fetch for it that tells when the stream is open. */

export interface WatchedStream {
  fetch: (input: string | URL, init?: RequestInit) => Promise<Response>;
  /** Settles with the first event, which the gateway sends when its object knows of the stream. */
  isOpen: Promise<void>;
}

/** One for each client. */
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
