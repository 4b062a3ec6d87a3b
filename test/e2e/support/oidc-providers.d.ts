/** What the tests use of `oidc-provider`, which comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, Server, ServerResponse } from 'node:http';

  /** What its events tell of a request. */
  export interface Context {
    oidc: { params: { grant_type: string } };
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    listen(port: number, host: string): Server;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    on(event: string, heard: (context: Context) => unknown): void;
    AccessToken: {
      find(value: string): Promise<{ accountId: string; isExpired: boolean } | undefined>;
    };
  }
}
