/** The parts of `oidc-provider` that the tests use; the package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, Server, ServerResponse } from 'node:http';

  /** What its events contain of a request. */
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
