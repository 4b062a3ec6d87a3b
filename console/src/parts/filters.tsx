/** Filters above a list. They apply while typing, so the form is never submitted. */
import type { ComponentChildren } from 'preact';

interface FiltersProps {
  name: string;
  onName: (name: string) => void;
  maxLength: number;
  /** More filters. */
  children?: ComponentChildren;
}

/** A filter by part of the name. */
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
