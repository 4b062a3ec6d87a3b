/** One timer for the page: what depends on the time of day is rendered again as time passes. */
import { createContext, type ComponentChildren } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';

const TICK_MS = 20_000;
const Ticks = createContext(0);

/** Renders the calling component again at each tick. @returns milliseconds since the epoch */
export function useNow(): number {
  useContext(Ticks);
  return Date.now();
}

export function Ticking({ children }: { children: ComponentChildren }) {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks(before => before + 1), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <Ticks.Provider value={ticks}>{children}</Ticks.Provider>;
}
