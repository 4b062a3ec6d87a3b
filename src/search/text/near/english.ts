/**
 * Everyday English words of tools with similar meanings, written for this project from the half of the benchmark's requests that the
 * ranking is tuned on. Each line is a group whose words are near each other. `=` works one way only: from an abbreviation, or from two
 * words that mean one thing. A word may be in several groups.
 */

const GROUPS = `
delete remove erase drop discard purge destroy trash
remove detach unassign exclude clear
create add new make insert register
add append insert attach include put
list show display view enumerate browse
read fetch retrieve view load show
search find query lookup discover
send post deliver publish
send message notify alert
reply respond answer
update edit change modify alter adjust
update set configure
rename retitle
move transfer relocate
copy duplicate clone fork
open launch start
close shut end finish complete resolve
start begin run launch trigger
stop halt end terminate kill
run execute invoke perform trigger
check verify validate inspect status test
enable activate
disable deactivate
cancel abort revoke
schedule plan book
book reserve
translate convert
summarize summary digest
calculate compute
compare diff
buy purchase order
pay payment charge
save store persist keep
upload attach import
download export fetch
share permission access
invite member
assign owner assignee
merge combine join
connect link attach
subscribe follow watch
comment note remark feedback
count total number amount
analyze analyse analysis examine
restore recover undelete untrash
select choose pick
click press tap
record log track
approve accept confirm
reject decline deny
deploy release publish ship
ship shipment fulfillment delivery parcel
message mail email
email mail inbox
chat conversation thread message
file document
folder directory
picture image photo
movie film
song track music
issue ticket bug
bug error crash exception
task todo item
user person people member
customer client contact
contact person lead prospect
company organization business
account profile
price cost quote
weather forecast temperature
location address coordinates
directions route navigation
website site page url
internet web online
table sheet spreadsheet
row record entry
label tag category
log event history
meeting event appointment
calendar schedule event
paper article publication
author writer
transcript captions subtitles
statistics stats analytics metrics
report summary
key token secret
setting config configuration preference
environment variable
branch ref
repository project
commit push
status state
popular trending top
latest recent newest
review feedback comment
`;

const LEADS = `
pr=pull request
mr=merge request
repo=repository
repos=repository
db=database
env=environment
config=configuration
docs=document documentation
doc=document
info=information details
msg=message
img=image
pic=image
app=application
org=organization
ci=workflow build check
dm=message direct
todo=task
faq=question
bin=trash
grep=search
get rid=delete remove trash
throw away=delete trash
threw away=delete trash
take away=remove
take off=remove
bring back=restore recover
undo delete=restore
set up=create configure
put up=create post
turn on=enable start
switch on=enable start
turn off=disable stop
switch off=disable stop
shut down=stop close
look up=search find
look for=search find
find out=search find
write up=create write
write down=create add note
note down=create add note
sign up=register create
sign in=login authenticate
log in=login authenticate
log out=logout
call off=cancel
fill in=fill submit
fill out=fill submit
hand out=share assign
send out=send
pass on=forward send
back up=backup export
roll back=rollback revert restore
carry out=run execute
kick off=start run trigger
wrap up=close complete
check in=commit
check out=checkout
chat with=message
phone call=call
phoned=call
shipped=fulfillment ship
`;

/** Words near a word, and words near a pair of consecutive words. */
export interface EverydayWords {
  of: ReadonlyMap<string, readonly string[]>;
  ofPair: ReadonlyMap<string, readonly string[]>;
}

/** Parsed once per isolate. */
const isolate: { held?: EverydayWords } = {};

/** Returns the parsed lists; parses them on first use. */
export function readEverydayWords(): EverydayWords {
  if (isolate.held) return isolate.held;
  const of = new Map<string, Set<string>>();
  const ofPair = new Map<string, readonly string[]>();
  const add = (word: string, others: readonly string[]): void => {
    const known = of.get(word) ?? new Set();
    for (const other of others) if (other !== word) known.add(other);
    of.set(word, known);
  };
  for (const line of GROUPS.trim().split('\n')) {
    const words = line.split(' ');
    for (const word of words) add(word, words);
  }
  for (const line of LEADS.trim().split('\n')) {
    const [key = '', to = ''] = line.split('=');
    if (key.includes(' ')) ofPair.set(key, to.split(' '));
    else add(key, to.split(' '));
  }
  isolate.held = { of: new Map([...of].map(([word, others]) => [word, [...others]])), ofPair };
  return isolate.held;
}
