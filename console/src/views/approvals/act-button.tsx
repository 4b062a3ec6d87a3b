/** A button for an immediate action; its error is shown beside it. */
import { Problem } from '../../parts/states.tsx';
import { useAct } from '../../parts/use-act.ts';

interface ActButtonProps {
  label: string;
  isQuiet?: boolean;
  isDisabled?: boolean;
  act: () => Promise<unknown>;
}

export function ActButton({ label, isQuiet = false, isDisabled = false, act }: ActButtonProps) {
  const { isBusy, thrown, run, place } = useAct<HTMLButtonElement>();
  return (
    <>
      <button
        ref={place}
        type="button"
        class={isQuiet ? 'quiet' : undefined}
        disabled={isDisabled || isBusy}
        onClick={() => run(act)}
      >
        {label}
      </button>
      {thrown === undefined ? null : <Problem thrown={thrown} />}
    </>
  );
}
