import { type ReactNode, useEffect } from 'react'
import icon from '../parts/dashboard-icon.svg'

/** The frame of the pages before the dashboard. */
export function Gate({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Pitboss`
  }, [title])
  return (
    <main className="gate" id="main">
      <div className="card">
        <p className="gate-brand">
          <img src={icon} alt="" width="32" height="32" /> Pitboss
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  )
}
