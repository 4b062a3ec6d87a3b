/**
 * Sentences that people write around a request, written by us. One list for each half of the requests, so that what is learned from one
 * does not help the other.
 */

/** For requests that the ranking is tuned on. */
export const TUNED_CHATTER = [
  'Hi there, I hope your week has been going well so far.',
  'I was in meetings the whole morning and I am a bit behind now.',
  'My colleague told me this morning that you might be able to help me out.',
  'Sorry for the long message, I just wanted to give you the whole background.',
  'We have been trying to get this done for a couple of days already.',
  'It does not have to be perfect, but it would be good to have it soon.',
  'Honestly I have no idea where to even start with this one.',
  'Last time somebody else took care of it while I was on vacation.',
  'So here is the thing that I would like you to do for me today.',
  'Thanks a lot in advance, I really appreciate it.',
  'Let me know if anything is unclear and I will explain it again.',
  'Please take your time and tell me when you are finished with it.',
  'My boss has been asking about it since Monday, so it is rather urgent.',
  'If you need anything else from my side just ask me.',
  'I tried it by hand yesterday but it took me ages and I gave up.',
  'Once that is done we can talk about the rest of the plan over a coffee.',
];

/** For the other requests. */
export const OTHER_CHATTER = [
  'Good evening, this is the first time that I write to an assistant like you.',
  'We moved to another office this spring and everything is still in boxes.',
  'A friend of mine said that it only takes a minute if one knows how.',
  'I know it sounds odd, but bear with me for a second.',
  'The kids are at school until three, so there is a little time left.',
  'Nobody in the team could say who was in charge of such things before.',
  'It has been raining all day and I would rather not go outside.',
  'Right, enough small talk, here comes what I am after.',
  'Whatever you come up with will be fine with me.',
  'Have a great day and talk to you later.',
  'By the way, your last answer was spot on, well done.',
  'There is no hurry at all, tomorrow would be early enough.',
  'My manager will have a look at it before we go any further.',
  'I would have done it myself, but my hands are full at the moment.',
  'Feel free to come back to me with questions whenever you like.',
  'As always I owe you one for this.',
];
