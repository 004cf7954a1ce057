import type { ReactNode } from 'react'
import { useDashboard } from '../session/dashboard-context.ts'
import { type Act, whyNot } from '../session/may.ts'
import { ClosedPage } from './closed-page.tsx'
import { ListView, type ListViewProps } from './list-view.tsx'
import { Page } from './page.tsx'
import { SavedViews } from './saved-views.tsx'

type ListPageProps<Row> = Omit<ListViewProps<Row>, 'label'> & {
  readonly title: string
  /** The name of the list; that of the page unless given. */
  readonly label?: string
  readonly about: string
  /** The route that the page reads, where not every role may. */
  readonly needs?: Act
  readonly acts?: ReactNode
  /** What stands above the list. */
  readonly above?: ReactNode
  /** Dialogs over the page. */
  readonly children?: ReactNode
}

/** A page that is one list, or the reason why the role does not open it. */
export function ListPage<Row>({ title, about, needs, acts, above, children, ...list }: ListPageProps<Row>) {
  const { user } = useDashboard()
  const closed = needs === undefined ? null : whyNot(user.role, needs)
  if (closed !== null) return <ClosedPage title={title} why={closed} />
  return (
    <Page title={title} about={about} {...(acts === undefined ? {} : { acts })}>
      {above}
      {(list.filters !== undefined || list.anyTime !== undefined) && <SavedViews />}
      <ListView label={title} {...list} />
      {children}
    </Page>
  )
}
