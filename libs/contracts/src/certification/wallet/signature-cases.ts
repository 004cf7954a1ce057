import { defineCase } from '../run-cases.ts'
import {
  expectNoSuccess,
  expectSuccess,
  moving,
  type SendOptions,
  type WalletBody,
  type WalletCase,
  type WalletUnderTest,
} from './wallet-under-test.ts'

const HINT =
  'signature = hex HMAC-SHA256(secret, x-timestamp + "." + raw body); compare in constant time, before parsing.'

/** Cases about signatures and clocks. */
export const signatureCases: readonly WalletCase[] = [
  refused('signature-missing', 'A call without x-signature is refused', () => ({
    tamper: { without: 'x-signature' },
  })),
  refused('timestamp-missing', 'A call without x-timestamp is refused', () => ({
    tamper: { without: 'x-timestamp' },
  })),
  refused('signature-wrong-secret', 'A call signed with another secret is refused', ({ secret }) => ({
    secret: `${secret}x`,
  })),
  refused('signature-empty', 'An empty signature is refused', () => ({
    tamper: { headers: { 'x-signature': '' } },
  })),
  refused('signature-zeros', 'A signature of zeros is refused', () => ({
    tamper: { headers: { 'x-signature': '0'.repeat(64) } },
  })),
  refused('signature-of-other-time', 'A signature made for another timestamp is refused', ({ now }) => {
    const timestamp = Math.floor(now().getTime() / 1000) - 1
    return { tamper: { headers: { 'x-timestamp': String(timestamp) } }, clockShiftS: 5 }
  }),
  refused('body-tampered', 'A body that was changed after signing is refused', (_wallet, body) => ({
    tamper: { body: JSON.stringify({ ...body, playerId: `${String(body.playerId)} ` }) },
  })),
  refused('body-reformatted', 'A body that was re-formatted after signing is refused', (_wallet, body) => ({
    tamper: { body: JSON.stringify(body, null, 1) },
  })),
  refused('clock-old', 'A timestamp 310 s in the past is refused', () => ({ clockShiftS: -310 })),
  refused('clock-future', 'A timestamp 310 s in the future is refused', () => ({ clockShiftS: 310 })),
  refused('clock-milliseconds', 'A timestamp in milliseconds is refused', ({ now }) => ({
    tamper: { headers: { 'x-timestamp': String(now().getTime()) } },
  })),
  accepted('clock-within', 'A timestamp 280 s in the past is accepted', (wallet) => wallet.body('BET', 2n), {
    clockShiftS: -280,
  }),
  accepted('body-spaces', 'A signed body with unusual spacing is accepted', (wallet) =>
    JSON.stringify(wallet.body('BET', 2n), null, 3),
  ),
  accepted('body-unicode', 'A signed body with characters beyond ASCII is accepted', (wallet) =>
    JSON.stringify(wallet.body('BET', 2n, { game: 'dice', note: 'Zürich ✓ 日本' })),
  ),
]

function refused(
  id: string,
  title: string,
  optionsOf: (wallet: WalletUnderTest, body: WalletBody) => SendOptions,
): WalletCase {
  return defineCase('signature', id, {
    title,
    hint: HINT,
    run: moving(0n, async (wallet) => {
      const body = wallet.body('BET', 2n)
      expectNoSuccess('debit', await wallet.send('debit', body, optionsOf(wallet, body)))
    }),
  })
}

function accepted(
  id: string,
  title: string,
  bodyOf: (wallet: WalletUnderTest) => WalletBody | string,
  options: SendOptions = {},
): WalletCase {
  return defineCase('signature', id, {
    title,
    hint: `${HINT} Verify the bytes as received and allow 300 s.`,
    run: moving(-2n, async (wallet) => {
      expectSuccess('debit', await wallet.send('debit', bodyOf(wallet), options))
    }),
  })
}
