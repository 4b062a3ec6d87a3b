/** Fields for a server and one of its tools, with suggestions. */
import { useQuery } from '@tanstack/preact-query';
import { serversNamed, toolsOf } from '../api/suggestions.ts';
import { Suggest } from './suggest.tsx';

type Both<T> = Readonly<Record<'server' | 'tool', T>>;

interface ServerAndToolProps extends Both<string> {
  onServer: (name: string) => void;
  onTool: (name: string) => void;
  /** Label of the second field, if it may be more than one tool. */
  toolLabel?: string;
  /** Suggest patterns too. */
  takesAll?: boolean;
  /** The error of either field. */
  wrong?: (name: 'server' | 'tool') => string | undefined;
  hints?: Partial<Both<string>>;
}

const ALL = '*';

export function ServerAndTool(props: ServerAndToolProps) {
  const { server, tool, onServer, onTool, toolLabel = 'Tool', wrong, hints } = props;
  const first = props.takesAll ? [ALL] : [];
  const servers = useQuery(serversNamed(server === ALL ? '' : server)).data?.servers ?? [];
  const tools = useQuery(toolsOf(server)).data ?? [];
  const hintOf = (hint: string | undefined) => (hint === undefined ? {} : { hint });
  return (
    <>
      <Suggest
        label="Server"
        value={server}
        offered={[...first, ...servers.map(({ name }) => name)]}
        required
        wrong={wrong?.('server')}
        {...hintOf(hints?.server)}
        onValue={onServer}
      />
      <Suggest
        label={toolLabel}
        value={tool}
        offered={[...first, ...tools]}
        required
        wrong={wrong?.('tool')}
        {...hintOf(hints?.tool)}
        onValue={onTool}
      />
    </>
  );
}
