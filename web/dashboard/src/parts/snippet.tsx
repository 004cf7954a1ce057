import type { ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'

type SnippetProps = {
  /** What the text does; it opens the fold. */
  readonly title: string
  readonly text: string
  /** What has to be known before it is run. */
  readonly children: ReactNode
}

/** A text to run elsewhere, folded until it is wanted. */
export function Snippet({ title, text, children }: SnippetProps) {
  return (
    <details>
      <summary>{title}</summary>
      <div className="snippet">
        {children}
        <pre className="data" tabIndex={0} aria-label={title}>
          {text}
        </pre>
        <CopyButton text={text} what={title} />
      </div>
    </details>
  )
}
