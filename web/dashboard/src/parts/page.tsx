import { type ReactNode, useEffect } from 'react'
import { useDashboard } from '../session/dashboard-context.ts'

type PageProps = {
  readonly title: string
  /** One sentence for who is here for the first time. */
  readonly about?: ReactNode
  readonly acts?: ReactNode
  readonly children: ReactNode
}

/** The frame of a page: heading, acts, content; it names the window. */
export function Page({ title, about, acts, children }: PageProps) {
  const { environment } = useDashboard()
  useEffect(() => {
    document.title = `${title} · ${environment} · Pitboss`
  }, [title, environment])
  return (
    <main id="main" tabIndex={-1}>
      <div className="page-head">
        <h1>{title}</h1>
        {acts !== undefined && <div className="acts">{acts}</div>}
      </div>
      {about !== undefined && <p className="about">{about}</p>}
      {children}
    </main>
  )
}
