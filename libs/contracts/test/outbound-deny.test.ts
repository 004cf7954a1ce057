import t from 'tap'
import { createIsDenied, outboundDenySchema } from '../src/address-range.ts'

t.test(
  'an installation that names no network of its own is told so in production, unless it says none',
  (t) => {
    const warned = (NODE_ENV: string, text: string | undefined) => {
      const lines: string[] = []
      const config = { NODE_ENV, PITBOSS_OUTBOUND_DENY: outboundDenySchema.parse(text) }
      createIsDenied(config, { warn: (_, message) => void lines.push(message) })
      return lines
    }
    t.strictSame(warned('production', undefined), ['outbound.deny-missing'])
    t.strictSame(warned('production', 'none'), [])
    t.strictSame(warned('production', '203.0.113.0/24'), [])
    t.strictSame(warned('development', undefined), [])
    t.notOk(outboundDenySchema.safeParse('203.0.113.0/24,none').success)
    t.notOk(outboundDenySchema.safeParse(' ').success)
    t.end()
  },
)

t.test('nobody is called in a network that is named', (t) => {
  const PITBOSS_OUTBOUND_DENY = outboundDenySchema.parse('203.0.113.0/24, 2001:db8::1')
  const isDenied = createIsDenied(
    { NODE_ENV: 'production', PITBOSS_OUTBOUND_DENY },
    { warn: () => undefined },
  )
  t.ok(isDenied('203.0.113.9'))
  t.ok(isDenied('::ffff:203.0.113.9'))
  t.ok(isDenied('2001:db8::1'))
  t.notOk(isDenied('198.51.100.1'))
  t.end()
})
