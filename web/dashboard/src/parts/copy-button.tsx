import { useState } from 'react'

type CopyButtonProps = {
  readonly text: string
  /** Names the thing for who can't see where the button stands. */
  readonly what: string
  /** Called when the clipboard has it. */
  readonly onCopied?: () => void
}

/** Copies on a press alone. */
export function CopyButton({ text, what, onCopied }: CopyButtonProps) {
  const [said, setSaid] = useState<string | null>(null)
  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
      onCopied?.()
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
