import { Page } from '../parts/page.tsx'
import { RoundList } from './round-list.tsx'

export default function Rounds() {
  return (
    <Page title="Rounds" about="Each bet with its draw, its payout and its proof.">
      <RoundList />
    </Page>
  )
}
