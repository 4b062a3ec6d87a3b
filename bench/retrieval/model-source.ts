/** An embedding model at an OpenAI-compatible address. */
import { createHttpChat } from '../../src/models/http-chat.ts';
import { OPENAI_CHAT_API } from '../../src/models/openai-api.ts';

export interface ModelOptions {
  /** Base URL of the API, with its version. */
  url: string;
  name: string;
  key: string | undefined;
}

/** Returns one vector per text, in order. */
export type Embed = (texts: readonly string[]) => Promise<number[][]>;

/** Returns the model at an address. */
export function createEmbed({ url, name, key }: ModelOptions): Embed {
  const findKey = () => Promise.resolve(key);
  const { embed } = createHttpChat({
    api: OPENAI_CHAT_API,
    url,
    model: name,
    embedModel: name,
    findKey,
  });
  const attempt = { signal: new AbortController().signal, onSign: () => {}, onHandedOn: () => {} };
  return texts => embed?.of(texts, attempt) ?? Promise.reject(new Error('no vectors at this API'));
}
