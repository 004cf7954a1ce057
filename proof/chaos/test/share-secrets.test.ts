import t from 'tap'
import { createShareSecrets } from '../src/faults/share-secrets.ts'
import type { Answer } from '../src/send.ts'

const owner = { environment: 'LIVE' as const, personToken: 'token', walletUrl: 'http://wallet' }

/** A product whose first rotation is answered to nobody and done when `wake` is called. */
function sleepyProduct() {
  let made = 0
  const known = { product: 'first', wallet: 'first' }
  const asleep: (() => void)[] = []
  const rotate = () => {
    known.product = `secret ${++made}`
    return known.product
  }
  const ask = async (method: string, _url: string, { body }: { body?: unknown } = {}): Promise<Answer> => {
    if (method === 'PUT') {
      known.wallet = (body as { secret: string }).secret
      return { status: 204, body: {} }
    }
    if (asleep.length > 0) return { status: 200, body: { secret: rotate() } }
    asleep.push(() => void rotate())
    return { status: 0, body: {} }
  }
  return { known, ask, wake: () => asleep.forEach((one) => one()) }
}

t.test(
  'a rotation that is done after the next one was answered leaves both sides with one secret',
  async (t) => {
    const { known, ask, wake } = sleepyProduct()
    const secrets = createShareSecrets('http://product', ask)
    await secrets.rotate(owner)
    wake()
    t.not(known.product, known.wallet, 'the late one is in force')
    await secrets.settle()
    t.equal(known.product, known.wallet)
  },
)
