/** The page of a record that is not there yet: it is loading, could not be read, or does not exist. */
import { useRef } from 'preact/hooks';
import { ApiProblem } from '../api/request.ts';
import { Heading } from './heading.tsx';
import { Loading, Problem } from './states.tsx';

interface OpeningProps {
  /** Address and text of the link back. */
  back: readonly [href: string, text: string];
  found: { error: Error | null; refetch: () => unknown };
}

const isGone = (thrown: Error | null) =>
  thrown instanceof ApiProblem && thrown.code === 'not_found';

export function Opening({ back, found: { error, refetch } }: OpeningProps) {
  // While a refresh looks for it again, there is no error for a moment.
  const gone = useRef<Error>();
  if (error) gone.current = isGone(error) ? error : undefined;
  if (gone.current) {
    return (
      <>
        <Heading back={back}>{gone.current.message}</Heading>
        <p>It was deleted, or the address is wrong.</p>
      </>
    );
  }
  if (!error) return <Loading />;
  return (
    <>
      <Heading back={back}>This could not be read</Heading>
      <Problem thrown={error} onRetry={() => void refetch()} />
    </>
  );
}
