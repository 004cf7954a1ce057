import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { isZone } from './zone-time.ts'

const plain = 'UTC'
const keptAs = 'pitboss-zone'

type Zone = {
  /** In which all times of the page are. */
  readonly zone: string
  /** What one can choose: UTC, the account's, that of the device, and the chosen one. */
  readonly zones: readonly { readonly name: string; readonly says: string }[]
  readonly setZone: (zone: string) => void
}

const ZoneContext = createContext<Zone>({ zone: plain, zones: [], setZone: () => undefined })

/** The zone in which times are shown and read. */
export function useZone(): Zone {
  return useContext(ZoneContext)
}

/**
 * One zone for the whole page, UTC unless another is chosen. It is kept in the browser, and any other than
 * UTC stands in the address (`zone`), so that a link shows a colleague the same times.
 */
export function ZoneProvider({ account, children }: { account: string; children: ReactNode }) {
  useSearch()
  const [location, navigate] = useLocation()
  const [kept, keep] = useState(readKept)
  const query = new URLSearchParams(window.location.search)
  const named = query.get('zone')
  const zone = named !== null && isZone(named) ? named : kept
  useEffect(() => {
    keep(zone)
    // The links of the pages do not name it.
    if (named === zone || (named === null && zone === plain)) return
    navigate(addressIn(location, zone), { replace: true })
  }, [location, named, zone, navigate])
  const device = new Intl.DateTimeFormat().resolvedOptions().timeZone
  const known = [
    { name: plain, says: plain },
    { name: account, says: `${account} (account)` },
    { name: device, says: `${device} (this device)` },
    { name: zone, says: zone },
  ]
  const zones = known.filter(({ name }, at) => known.findIndex((one) => one.name === name) === at)
  function setZone(next: string) {
    localStorage.setItem(keptAs, next)
    keep(next)
    navigate(addressIn(location, next), { replace: true })
  }
  return <ZoneContext value={{ zone, zones, setZone }}>{children}</ZoneContext>
}

function readKept(): string {
  const kept = localStorage.getItem(keptAs) ?? plain
  return isZone(kept) ? kept : plain
}

/** The address of now in another zone; UTC is not named. */
function addressIn(location: string, zone: string): string {
  const query = new URLSearchParams(window.location.search)
  query.delete('zone')
  if (zone !== plain) query.set('zone', zone)
  return query.size === 0 ? location : `${location}?${query}`
}
