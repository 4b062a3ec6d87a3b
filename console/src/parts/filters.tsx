/** What narrows a list, above it: it is obeyed as it is typed, so nothing is sent. */
import type { ComponentChildren } from 'preact';

interface FiltersProps {
  name: string;
  onName: (name: string) => void;
  maxLength: number;
  /** Other filters. */
  children?: ComponentChildren;
}

/** Narrows by a part of the name. */
export const NameFilters = ({ name, onName, maxLength, children }: FiltersProps) => (
  <form class="filters" role="search" onSubmit={event => event.preventDefault()}>
    <label>
      Name
      <input
        type="search"
        value={name}
        maxLength={maxLength}
        onInput={({ currentTarget }) => onName(currentTarget.value)}
      />
    </label>
    {children}
  </form>
);
