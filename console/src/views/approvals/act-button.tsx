/** A button for an immediate action; its error is shown beside it. */
import { Problem } from '../../parts/states.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useHeldFocus } from '../../parts/use-held-focus.ts';

interface ActButtonProps {
  label: string;
  isQuiet?: boolean;
  isDisabled?: boolean;
  act: () => Promise<unknown>;
}

export function ActButton({ label, isQuiet = false, isDisabled = false, act }: ActButtonProps) {
  const { isBusy, thrown, run } = useAct();
  const button = useHeldFocus<HTMLButtonElement>(isBusy);
  return (
    <>
      <button
        ref={button}
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
