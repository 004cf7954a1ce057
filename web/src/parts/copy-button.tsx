import { useEffect, useState } from 'preact/hooks'

const shownForMs = 1600

/** Copies a text; says so for a moment. */
export function CopyButton({ text, what, label = 'Copy' }: { text: string; what: string; label?: string }) {
  const [said, setSaid] = useState<string | null>(null)
  useEffect(() => {
    if (said === null) return undefined
    const timer = setTimeout(() => setSaid(null), shownForMs)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied'),
      () => setSaid('Not allowed here'),
    )
  }
  return (
    <button type="button" class="button small" onClick={copy}>
      {said ?? label}
      <span class="unseen"> {what}</span>
    </button>
  )
}
