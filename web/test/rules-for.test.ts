import t from 'tap'
import { isAllowed } from '../../services/auth/src/rules/address-list.ts'
import { rulesFor } from '../dashboard/src/pages/rules-for.ts'

const list = ['203.0.113.0/24', '203.0.113.7', '2001:db8::/32', '::ffff:198.51.100.0/120']
const cases = [
  ['203.0.113.7', ['203.0.113.0/24', '203.0.113.7']],
  ['203.0.113.8', ['203.0.113.0/24']],
  ['::ffff:203.0.113.8', ['203.0.113.0/24']],
  ['198.51.100.9', ['::ffff:198.51.100.0/120']],
  ['2001:db8:1::1', ['2001:db8::/32']],
  ['192.0.2.1', []],
  ['2001:db9::1', []],
] as const

for (const [address, rules] of cases)
  t.test(`${address} is let in by ${rules.join(' and ') || 'nothing'}, as the service says`, async (t) => {
    t.strictSame(rulesFor(address, list), rules)
    t.equal(isAllowed(list, address), rules.length > 0, 'the service says the same')
  })

t.test('what is no address is told apart from one that is refused', async (t) => {
  for (const text of ['', 'localhost', '203.0.113', '0xcb.0.113.7', '203.0.113.256', '<img src=x>'])
    t.equal(rulesFor(text, list), null, text)
})
