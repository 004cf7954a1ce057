import { useState } from 'react'

/** Copies on a press alone; `what` names the thing for who can't see where the button stands. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [said, setSaid] = useState<string | null>(null)
  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('Copying is not allowed here; select the text instead.')
    }
  }
  return (
    <span className="copy">
      <button type="button" className="button quiet-button small" onClick={() => void copy()}>
        Copy<span className="unseen"> {what}</span>
      </button>
      <span role="status" className="quiet">
        {said}
      </span>
    </span>
  )
}
