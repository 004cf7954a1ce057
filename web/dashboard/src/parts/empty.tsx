import type { ReactNode } from 'react'

/** Nothing there yet, and how something comes to be there. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="empty card">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
