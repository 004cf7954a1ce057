/** Runs `fn` once after `ms` milliseconds, unless the function that it returns is called before. */
export function scheduleLater(fn: () => void, ms: number): () => void {
  const timer = setTimeout(fn, ms)
  return () => clearTimeout(timer)
}
