import { Link } from 'wouter'
import { Page } from '../parts/page.tsx'

export function NoPage() {
  return (
    <Page title="No such page">
      <p>
        There is no page at this address. <Link href="/">Go home</Link>
      </p>
    </Page>
  )
}
