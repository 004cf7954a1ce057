import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { isWithin, parseRange } from '@pitboss/contracts/address-range'
import { clientAddress, limiterAddress } from '../../src/access/client-address.ts'

const inside: [address: string, ranges: string[], expected: boolean][] = [
  ['192.0.2.1', ['192.0.2.1'], true],
  ['192.0.2.2', ['192.0.2.1'], false],
  ['192.0.2.255', ['192.0.2.0/24'], true],
  ['192.0.3.0', ['192.0.2.0/24'], false],
  ['203.0.113.9', ['0.0.0.0/0'], true],
  ['::ffff:192.0.2.1', ['192.0.2.1'], true],
  ['192.0.2.1', ['::ffff:192.0.2.1'], true],
  ['192.0.2.77', ['::ffff:192.0.2.0/120'], true],
  ['::ffff:c000:201', ['192.0.2.1/32'], true],
  ['2001:db8::1', ['2001:db8::/32'], true],
  ['2001:db9::1', ['2001:db8::/32'], false],
  ['2001:0DB8:0:0:0:0:0:1', ['2001:db8::1'], true],
  ['::1', ['0.0.0.0/0'], false],
  ['192.0.2.1', ['::/0'], false],
  ['127.0.0.1', ['10.0.0.0/8', '127.0.0.0/8'], true],
  ['192.0.2.1', ['nonsense', '192.0.2.300', '192.0.2.1/33', '192.0.2.1/', '192.0.2'], false],
  ['unknown', ['0.0.0.0/0', '::/0'], false],
]

await t.test('an address is in a range or not, v4, v6 and mapped', (t) => {
  for (const [address, ranges, expected] of inside)
    t.equal(isWithin(address, ranges), expected, `${address} in ${ranges.join()}`)
  for (const bad of ['', '1.2.3', '0x7f.1', '010.0.0.1', '1.2.3.4/-1', '1.2.3.4/08', '1.2.3.4/2/3', 'x::1'])
    t.equal(parseRange(bad), null, bad)
  t.end()
})

function request(peer: string, ...forwarded: string[]): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: peer })
  const message = new IncomingMessage(socket)
  message.headersDistinct = forwarded.length === 0 ? {} : { 'x-forwarded-for': forwarded }
  return message
}

await t.test('X-Forwarded-For counts only behind a trusted proxy', (t) => {
  const proxies = [parseRange('127.0.0.1'), parseRange('10.0.0.0/8')].filter((range) => range !== null)
  const cases: [peer: string, forwarded: string[], trusted: boolean, client: string][] = [
    ['127.0.0.1', ['198.51.100.7'], false, '127.0.0.1'],
    ['192.0.2.9', ['198.51.100.7'], true, '192.0.2.9'],
    ['127.0.0.1', ['198.51.100.7'], true, '198.51.100.7'],
    ['::ffff:127.0.0.1', ['198.51.100.7'], true, '198.51.100.7'],
    ['127.0.0.1', ['1.1.1.1, 198.51.100.7'], true, '198.51.100.7'],
    ['127.0.0.1', ['1.1.1.1', '198.51.100.7, 10.1.2.3'], true, '198.51.100.7'],
    ['127.0.0.1', ['198.51.100.7, rubbish'], true, '127.0.0.1'],
    ['127.0.0.1', ['rubbish, 10.1.2.3'], true, '10.1.2.3'],
    ['127.0.0.1', ['10.0.0.2, 10.0.0.3'], true, '10.0.0.2'],
    ['127.0.0.1', [], true, '127.0.0.1'],
    ['127.0.0.1', ['2001:DB8::1'], true, '2001:db8::1'],
  ]
  for (const [peer, forwarded, trusted, client] of cases) {
    t.equal(
      clientAddress(request(peer, ...forwarded), trusted ? proxies : []),
      client,
      `${peer} ${forwarded.join()}`,
    )
  }
  t.end()
})

await t.test('an address limiter counts a v6 client by its /64', (t) => {
  t.equal(limiterAddress('192.0.2.1'), '192.0.2.1')
  t.equal(limiterAddress('2001:db8:1:2:3:4:5:6'), limiterAddress('2001:db8:1:2::9'))
  t.not(limiterAddress('2001:db8:1:2::9'), limiterAddress('2001:db8:1:3::9'))
  t.equal(limiterAddress('unknown'), 'unknown')
  t.end()
})
