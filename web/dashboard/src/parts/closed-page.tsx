import { Page } from './page.tsx'

/** A page that the person's role does not open. */
export function ClosedPage({ title, why }: { title: string; why: string }) {
  return (
    <Page title={title}>
      <div className="empty card">
        <h2>Not for your role</h2>
        <p>{why} An OWNER can change roles under People.</p>
      </div>
    </Page>
  )
}
