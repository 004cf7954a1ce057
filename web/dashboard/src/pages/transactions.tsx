import { Page } from '../parts/page.tsx'
import { TransactionList } from './transaction-list.tsx'

export default function Transactions() {
  return (
    <Page
      title="Transactions"
      about="Movements between a player's balance and us. PENDING: the wallet gave no clear answer, and we go on asking."
    >
      <TransactionList />
    </Page>
  )
}
