/** A running call: its progress, and its server's log messages. */
import type { News } from '../../api/tools.ts';
import { Foreign } from '../../parts/foreign.tsx';

/** Most kept messages; a server may send many. */
const MAX_NEWS = 50;

/** Adds a notification; of progress only the last is kept. */
export function addNews(all: readonly News[], one: News): readonly News[] {
  const kept = one.type === 'progress' ? all.filter(({ type }) => type !== 'progress') : all;
  return [...kept, one].slice(-MAX_NEWS);
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);

export function Working({ isRunning, news }: { isRunning: boolean; news: readonly News[] }) {
  const progress = news.findLast(({ type }) => type === 'progress')?.data;
  const logs = news.filter(({ type }) => type === 'log');
  return (
    <>
      <div role="status">{isRunning ? <Progress data={progress} /> : ''}</div>
      {logs.length === 0 ? null : (
        <details open={isRunning}>
          <summary>Messages of its server ({logs.length})</summary>
          <ul class="logs">
            {logs.map(({ data }, at) => (
              <li key={at}>
                <span class="badge">
                  <Foreign text={textOf(data['level'])} max={20} />
                </span>{' '}
                <Foreign text={textOf(data['data'])} max={500} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Progress({ data }: { data: News['data'] | undefined }) {
  const [done, total] = [Number(data?.['progress']), Number(data?.['total'])];
  const message = textOf(data?.['message']);
  return (
    <>
      <p>
        {message === '' ? 'The tool is running…' : <Foreign text={message} max={200} />}{' '}
        {Number.isFinite(done) ? `${done}${Number.isFinite(total) ? ` of ${total}` : ''}` : null}
      </p>
      {Number.isFinite(done) && total > 0 ? (
        <progress aria-label="Progress" value={done} max={total} />
      ) : null}
    </>
  );
}
