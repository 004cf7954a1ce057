import { useEffect, useState } from 'preact/hooks'

/** Whole seconds until an instant (milliseconds, as of `Date.now`), counted while `running`; 0 when past. */
export function useSecondsUntil(untilMs: number, running: boolean): number {
  const secondsLeft = () => Math.max(0, Math.ceil((untilMs - Date.now()) / 1000))
  const [leftS, setLeftS] = useState(secondsLeft)
  useEffect(() => {
    setLeftS(secondsLeft())
    if (!running) return undefined
    const timer = setInterval(() => setLeftS(secondsLeft()), 1000)
    return () => clearInterval(timer)
  }, [untilMs, running])
  return leftS
}
