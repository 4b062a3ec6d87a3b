/** Forms that programs send to the authorization server: each parameter once, bounded in size, and responses that must not be cached. */
import { readForm } from '../http/read-form.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { Refusals } from './refusals.ts';
import { OAuthError, toOAuthError, toOAuthErrorResponse } from './oauth-error.ts';

const MAX_BODY_BYTES = 16_384;
export const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** Responds to a program's form, with an OAuth error if `work` fails. @param work throws OAuthError */
export async function answerForm(
  request: Request,
  { refusals }: { refusals: Refusals },
  work: (form: URLSearchParams) => Promise<Response>,
): Promise<Response> {
  const isBasic = /^basic /i.test(request.headers.get('authorization') ?? '');
  try {
    return await work(await readParameters(request));
  } catch (thrown) {
    const error = toOAuthError(thrown);
    await refusals.note(error);
    return toOAuthErrorResponse(error, isBasic);
  }
}

/** @throws OAuthError `invalid_request` */
async function readParameters(request: Request): Promise<URLSearchParams> {
  let form: URLSearchParams;
  try {
    form = await readForm(request, MAX_BODY_BYTES);
  } catch (thrown) {
    if (!(thrown instanceof PorticoError)) throw thrown;
    throw new OAuthError('invalid_request', thrown.message);
  }
  const names = [...form.keys()].filter(name => name !== 'resource');
  if (new Set(names).size < names.length)
    throw new OAuthError('invalid_request', 'A parameter is given twice');
  return form;
}
