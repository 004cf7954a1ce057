import t from 'tap'
import { isAllowed, parseAllowlist } from '../../src/rules/address-list.ts'

const cases: [list: string[], address: string, allowed: boolean][] = [
  [[], '203.0.113.9', true],
  [['203.0.113.9'], '203.0.113.9', true],
  [['203.0.113.9'], '203.0.113.10', false],
  [['203.0.113.0/24'], '203.0.113.255', true],
  [['203.0.113.0/24'], '203.0.114.0', false],
  [['203.0.113.0/24'], '::ffff:203.0.113.7', true],
  [['::ffff:203.0.113.0/120'], '203.0.113.7', true],
  [['::ffff:203.0.113.9'], '203.0.113.9', true],
  [['2001:db8::/32'], '2001:db8:ffff::1', true],
  [['2001:db8::/32'], '2001:db9::1', false],
  [['2001:db8::1'], '2001:0db8:0:0:0:0:0:1', true],
  [['2001:db8::/32'], '203.0.113.9', false],
  [['203.0.113.9'], 'nonsense', false],
]

t.test('an address is compared with v4 and v6 addresses and ranges', async (t) => {
  for (const [list, address, allowed] of cases)
    t.equal(isAllowed(parseAllowlist(list), address), allowed, `${address} on [${list.join(', ')}]`)
  for (const bad of [
    '',
    ' 1.2.3.4',
    'localhost',
    '1.2.3',
    '1.2.3.4/33',
    '0x7f.1.1.1',
    '010.1.1.1',
    '1.2.3.4/',
    '::/129',
    '::ffff:203.0.113.0/64',
  ]) {
    t.throws(() => parseAllowlist([bad]), { code: 'VALIDATION_ERROR' }, `"${bad}" is refused`)
  }
})

t.test('an entry with a zone, or one that holds every address, is refused at its index', async (t) => {
  for (const bad of [
    'fe80::1%eth0',
    'fe80::1%',
    'fe80::%eth0/64',
    '0.0.0.0/0',
    '203.0.113.9/0',
    '::/0',
    '0:0:0:0:0:0:0:0/0',
    '2001:db8::1/0',
    '::ffff:0.0.0.0/96',
    '::ffff:0:0/96',
    '0:0:0:0:0:ffff:203.0.113.9/96',
  ]) {
    const refused = { code: 'VALIDATION_ERROR', details: [{ path: 'ip_allowlist.1' }] }
    t.throws(() => parseAllowlist(['203.0.113.9', bad]), refused, `"${bad}" is refused`)
  }
  const both = { code: 'VALIDATION_ERROR', details: [{ path: 'ip_allowlist.0' }, { path: 'ip_allowlist.2' }] }
  t.throws(() => parseAllowlist(['x', '203.0.113.9', 'y']), both, 'each wrong entry is named')
  for (const good of ['0.0.0.0', '::', '128.0.0.0/1', '8000::/1', '::ffff:128.0.0.0/97', 'fe80::1'])
    t.strictSame(parseAllowlist([good]), [good])
})

t.test('an entry that an earlier release stored still holds its addresses', async (t) => {
  t.ok(isAllowed(['0.0.0.0/0'], '203.0.113.9'))
  t.ok(isAllowed(['fe80::1%eth0'], 'fe80::1'))
})
