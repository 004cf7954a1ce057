import { isIP } from 'node:net'
import t from 'tap'
import {
  checkOutboundUrl,
  checkOutboundUrlAndResolve,
  isAllowedAddress,
  type OutboundPolicy,
} from '../src/address-guard.ts'

const live: OutboundPolicy = { environment: 'LIVE', allowLoopback: false }
const test: OutboundPolicy = { environment: 'TEST', allowLoopback: false }
const testLoopback: OutboundPolicy = { environment: 'TEST', allowLoopback: true }
const liveLoopback: OutboundPolicy = { environment: 'LIVE', allowLoopback: true }

const neverAllowed = [
  // private
  'https://10.0.0.1/',
  'https://10.255.255.255/',
  'https://172.16.0.1/',
  'https://172.31.255.254/',
  'https://192.168.0.1/',
  'https://[fc00::1]/',
  'https://[fd12:3456:789a::1]/',
  'https://[fec0::1]/',
  // private, in other spellings
  'https://0x0a000001/',
  'https://0xa.0.0.1/',
  'https://012.0.0.1/',
  'https://167772161/',
  'https://10.1/',
  'https://10.0.1/',
  'https://0300.0250.0.1/',
  'https://192.168.0x1.1/',
  'https://%31%30.0.0.1/',
  'https://１０.0.0.1/',
  'https://10。0。0。1/',
  'https://10.0.0.1./',
  'https://[::ffff:10.0.0.1]/',
  'https://[::ffff:a00:1]/',
  'https://[0:0:0:0:0:ffff:c0a8:1]/',
  'https://[::10.0.0.1]/',
  // loopback inside other things
  'https://[::127.0.0.1]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2002:a00:1::1]/',
  'https://[2001:0:7f00:1::]/',
  // link-local and metadata
  'https://169.254.169.254/latest/meta-data/',
  'https://169.254.0.1/',
  'https://0xa9fea9fe/',
  'https://2852039166/',
  'https://[::ffff:169.254.169.254]/',
  'https://[fe80::1]/',
  'https://[febf::1]/',
  'https://[fd00:ec2::254]/',
  'https://168.63.129.16/',
  'https://[::ffff:168.63.129.16]/',
  'https://100.100.100.200/',
  'https://192.0.0.192/',
  // shared, multicast, reserved, documentation, benchmarking, unspecified
  'https://100.64.0.1/',
  'https://100.127.255.255/',
  'https://224.0.0.1/',
  'https://239.255.255.255/',
  'https://[ff02::1]/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  'https://0.0.0.0/',
  'https://0/',
  'https://0.1.2.3/',
  'https://[::]/',
  'https://192.0.0.8/',
  'https://192.0.2.1/',
  'https://198.51.100.7/',
  'https://203.0.113.9/',
  'https://198.18.0.1/',
  'https://192.88.99.1/',
  'https://192.175.48.1/',
  'https://[100::1]/',
  'https://[2001:db8::1]/',
  'https://[2001:10::1]/',
  'https://[3fff::1]/',
  'https://[5f00::1]/',
  'https://[4000::1]/',
  'https://[1fff::1]/',
  // what is no address to call at all
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'javascript:alert(1)',
  'data:text/plain,hi',
  '//example.com/',
  'example.com',
  'https:example.com',
  'https:///example.com',
  'https://',
  'https://.',
  '',
  'https://user:password@example.com/',
  'https://user@example.com/',
  'https://@example.com/',
  'https://:@example.com/',
  'https://example.com@10.0.0.1/',
  'https://example.com/#fragment',
  'https://example.com/#',
  'https://exa mple.com/',
  ' https://example.com/',
  'https://example.com/ ',
  'https://example.com/\n',
  'https://exam\tple.com/',
  'https://example.com/\u0000',
  'https://example.com\\@10.0.0.1/',
  'https:\\\\example.com/',
  'https://exam\u200bple.com/',
  'https://example.com\u007f/',
  'https://example.com:0/',
  'https://example.com:65536/',
  'https://example.com:port/',
  'https://256.1.1.1/',
  'https://1.2.3.4.5/',
  'https://[::1',
  'https://[fe80::1%25eth0]/',
  `https://example.com/${'a'.repeat(2048)}`,
] as const

const loopback = [
  'http://127.0.0.1:8080/',
  'http://127.1:8080/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://127.255.255.254/',
  'http://[::1]:9000/hook',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://localhost:3000/',
  'http://LOCALHOST/',
  'http://localhost./',
  'http://wallet.localhost/',
] as const

const internalNames = [
  'https://wallet/',
  'https://localhost/',
  'https://printer.local/',
  'https://PRINTER.LOCAL./',
  'https://metadata.google.internal/',
  'https://wallet.default.svc/',
  'https://wallet.default.svc.cluster.local/',
  'https://host.localdomain/',
  'https://nas.lan/',
  'https://nas.home.arpa/',
  'https://mail.corp/',
  'https://1.0.0.127.in-addr.arpa/',
] as const

const publicLive = [
  'https://example.com/',
  'https://hooks.example.com:8443/path?query=1',
  'https://example.com:443/',
  'https://example.com:1024/',
  'https://example.com:65535/',
  'https://EXAMPLE.com./',
  'https://bücher.example/',
  'https://local.example.com/',
  'https://internal.example.com/',
  'https://localhost.example.com/',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/',
  'https://not-yet-there.example/',
] as const

await t.test('an url that names no public host is refused in every environment and setting', async (t) => {
  for (const policy of [live, test, liveLoopback, testLoopback]) {
    for (const url of neverAllowed) {
      t.equal(
        checkOutboundUrl(url, policy).ok,
        false,
        `${policy.environment} ${policy.allowLoopback} ${url.slice(0, 80)}`,
      )
    }
  }
})

await t.test('loopback and plain http pass only where the setting allows loopback', async (t) => {
  for (const url of loopback) {
    t.equal(checkOutboundUrl(url, live).ok, false, `LIVE ${url}`)
    t.equal(checkOutboundUrl(url, test).ok, false, `TEST ${url}`)
    t.equal(checkOutboundUrl(url, testLoopback).ok, true, `TEST loopback ${url}`)
    t.equal(checkOutboundUrl(url, liveLoopback).ok, true, `LIVE loopback ${url}`)
  }
})

await t.test('single-label and internal names are refused outside the loopback setting', async (t) => {
  for (const url of internalNames) {
    t.equal(checkOutboundUrl(url, live).ok, false, `LIVE ${url}`)
    t.equal(checkOutboundUrl(url, test).ok, false, `TEST ${url}`)
    t.equal(checkOutboundUrl(url, testLoopback).ok, true, `TEST loopback ${url}`)
  }
})

await t.test('public https addresses pass everywhere', async (t) => {
  for (const url of publicLive) {
    for (const policy of [live, test, testLoopback, liveLoopback]) {
      t.equal(checkOutboundUrl(url, policy).ok, true, `${policy.environment} ${url}`)
    }
  }
})

await t.test('LIVE wants https on port 443 or from 1024, TEST takes http and port 80, too', async (t) => {
  for (const url of ['http://example.com/', 'https://example.com:80/', 'http://example.com:8080/']) {
    t.equal(checkOutboundUrl(url, live).ok, false, url)
    t.equal(checkOutboundUrl(url, liveLoopback).ok, false, url)
    t.equal(checkOutboundUrl(url, test).ok, true, url)
  }
  for (const port of [1, 22, 25, 587, 1023]) {
    for (const url of [`http://example.com:${port}/`, `https://example.com:${port}/`]) {
      for (const policy of [live, liveLoopback, test]) t.equal(checkOutboundUrl(url, policy).ok, false, url)
      t.equal(checkOutboundUrl(url, testLoopback).ok, true, url)
    }
  }
})

await t.test('networks of the setting are refused, whatever else allows them', async (t) => {
  const isDenied = (address: string) => address === '8.8.8.8' || address === '127.0.0.9'
  const resolving = async () => [{ address: '8.8.8.8', family: 4 }]
  for (const policy of [live, test, testLoopback]) {
    const denying = { ...policy, isDenied }
    t.equal(checkOutboundUrl('https://8.8.8.8/', denying).ok, false)
    t.equal(checkOutboundUrl('https://8.8.4.4/', denying).ok, true)
    t.equal((await checkOutboundUrlAndResolve('https://a.example/', denying, 'op', resolving)).ok, false)
    t.equal(isAllowedAddress('8.8.8.8', denying), false)
    t.equal(isAllowedAddress('8.8.4.4', denying), true)
  }
  t.equal(checkOutboundUrl('http://127.0.0.9:3000/', { ...testLoopback, isDenied }).ok, false)
  t.equal(isAllowedAddress('127.0.0.9', { ...testLoopback, isDenied }), false)
})

await t.test(
  'a name is refused when any of its addresses is not public, and passes when it does not resolve',
  async (t) => {
    const url = 'https://rebind.example/'
    const resolving = (addresses: string[]) => async () =>
      addresses.map((address) => ({ address, family: isIP(address) }))
    t.equal((await checkOutboundUrlAndResolve(url, live, 'op', resolving(['8.8.8.8']))).ok, true)
    t.equal((await checkOutboundUrlAndResolve(url, live, 'op', resolving(['8.8.8.8', '10.0.0.1']))).ok, false)
    t.equal((await checkOutboundUrlAndResolve(url, live, 'op', resolving(['::1']))).ok, false)
    t.equal((await checkOutboundUrlAndResolve(url, testLoopback, 'op', resolving(['::1']))).ok, true)
    t.equal((await checkOutboundUrlAndResolve(url, testLoopback, 'op', resolving(['10.0.0.1']))).ok, false)
    t.equal((await checkOutboundUrlAndResolve(url, live, 'op', resolving([]))).ok, true)
    const missing = () => Promise.reject(new Error('ENOTFOUND'))
    t.equal((await checkOutboundUrlAndResolve(url, live, 'op', missing)).ok, true)
  },
)
