import { Snippet } from '../parts/snippet.tsx'

const command = `WALLET_PORT=9100 WALLET_SECRET='the secret of the wallet' WALLET_DATA_DIR=./wallet npx pitboss-sandbox-wallet`

/** What a wallet has to answer, and one to begin with. */
export function WalletExample() {
  return (
    <Snippet title="No wallet of your own yet? Begin with the sandbox wallet" text={command}>
      <p>
        We ask <code>POST</code> <code>/balance</code>, <code>/debit</code>, <code>/credit</code> and{' '}
        <code>/rollback</code> below the URL of the wallet. <code>x-signature</code> is the HMAC-SHA256 of{' '}
        <code>x-timestamp</code>, a point and the body, with the secret that is shown once the URL is saved.
      </p>
      <p>
        The sandbox wallet of the operator kit answers as yours will have to. Save its URL first, such as{' '}
        <code>http://127.0.0.1:9100</code> on the machine of Pitboss, then run it with the secret.
      </p>
    </Snippet>
  )
}
