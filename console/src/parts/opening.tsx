/** The page of a record that is not there yet: it is loading, could not be read, or does not exist. */
import { ApiProblem } from '../api/request.ts';
import { Heading } from './heading.tsx';
import { Loading, Problem } from './states.tsx';

interface OpeningProps {
  /** Address and text of the link back. */
  back: readonly [href: string, text: string];
  found: { error: Error | null; refetch: () => unknown };
}

export function Opening({ back, found: { error, refetch } }: OpeningProps) {
  if (!error) return <Loading />;
  if (error instanceof ApiProblem && error.code === 'not_found') {
    return (
      <>
        <Heading back={back}>{error.message}</Heading>
        <p>It was deleted, or the address is wrong.</p>
      </>
    );
  }
  return (
    <>
      <Heading back={back}>This could not be read</Heading>
      <Problem thrown={error} onRetry={() => void refetch()} />
    </>
  );
}
