/** The user, and the page that is shown. */
import type { Me } from '@daybook/client'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { address, momentShown, withQuery } from './address/address.js'
import { matchPath } from './address/url.js'
import { allMoved } from './api/questions.js'
import { ApiProblem, contact, request } from './api/request.js'
import { loggedOutBecause, may, me, tenantsOfToken, token } from './api/session.js'
import { now } from './parts/clock.js'
import { canShow, loaded, loadFailed, loadPage, type Page, pages } from './pages/pages.js'
import { Empty } from './parts/empty.js'
import { Skeleton } from './parts/loaded.js'
import { ProblemNote } from './parts/problem-note.js'
import { Login } from './shell/login.js'
import { Shell } from './shell/shell.js'

/** Why the server has not told yet what the token permits. */
const notIntroduced = signal<ApiProblem | undefined>(undefined)

/** Asks the server about the token, repeatedly while it does not say. */
const introduce = async (isOver: () => boolean): Promise<void> => {
  while (!isOver()) {
    try {
      const { value } = await request<Me>('GET', '/api/me', { isSoon: true })
      if (isOver()) return
      notIntroduced.value = undefined
      me.value = value
      allMoved()
      return
    } catch (error) {
      // The login is shown then.
      if (error instanceof ApiProblem && error.status === 401) return
      if (isOver()) return
      notIntroduced.value = error instanceof ApiProblem ? error : new ApiProblem(0, 'internal', 'what answers is no Daybook server: is there a proxy before it?')
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  }
}

export const App = () => {
  useEffect(() => {
    let isOver = false
    if (loggedOutBecause.value === undefined) void introduce(() => isOver)
    return () => (isOver = true)
  }, [token.value, loggedOutBecause.value])
  if (loggedOutBecause.value !== undefined) return <Login />
  const problem = notIntroduced.value
  if (me.value === undefined && problem !== undefined && contact.value.lostAt === undefined) return <main class="login"><ProblemNote problem={problem} /></main>
  if (me.value === undefined) return contact.value.lostAt === undefined ? <Skeleton /> : <main class="login"><p><span role="status">The server does not answer.</span> Trying again … ({Math.max(0, Math.round((now.value - contact.value.lostAt) / 1_000))} s)</p></main>
  return <Shell>{may.read.value ? <CurrentPage /> : <NothingToRead />}</Shell>
}

const NothingToRead = () => (
  <Empty title="This token may not look">
    <p>The token {me.value?.name} is for a {me.value?.roles.join(' and ')}. To read queues it takes the role auditor, operator or guardian: an admin makes such a token with <code>daybook token create NAME --role auditor</code>.</p>
  </Empty>
)

/** Only by an address that somebody else has sent: nothing here leads there. */
const NotForTenants = ({ title }: { readonly title: string }) => (
  <Empty title="A token for tenants does not see this">
    <p>{title} would be about all tenants of the queue, and the token {me.value?.name} is for {tenantsOfToken.value?.join(' and ')} only. {momentShown.value !== undefined && <a href={withQuery({ at: undefined, revision: undefined })}>Back to now</a>}</p>
  </Empty>
)

const found = (): { readonly page: Page; readonly params: Readonly<Record<string, string>> } | undefined => {
  for (const page of pages) {
    const params = matchPath(page.path, address.value.path)
    if (params !== undefined) return { page, params }
  }
  return undefined
}

const CurrentPage = () => {
  const here = found()
  const page = here?.page
  const isPast = momentShown.value !== undefined
  const isLost = contact.value.lostAt !== undefined
  useEffect(() => {
    // A page that could not be loaded is, when the server is back.
    if (page !== undefined && !isLost && !loaded.value.has(page.path)) void loadPage(page)
    const name = here?.params.id ?? page?.title
    document.title = [name, here?.params.queue, 'Daybook'].filter((part) => part !== undefined).join(' · ')
  }, [page, address.value.path, isLost])
  if (here === undefined) return <Empty title="There is no such page"><p><a href="/">All queues</a></p></Empty>
  if (!may.seeAll.value && (isPast || !canShow(here.page))) return <NotForTenants title={isPast ? 'A past moment' : `The page ${here.page.title}`} />
  const Component = loaded.value.get(here.page.path)
  if (Component !== undefined) return <Component key={JSON.stringify([here.page.path, here.params])} params={here.params} />
  return loadFailed.value ? <Empty title="This page could not be loaded"><p>The server may have another version by now. <button type="button" onClick={() => location.reload()}>Reload</button></p></Empty> : <Skeleton />
}
