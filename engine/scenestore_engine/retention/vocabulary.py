"""Everyday words that stand for each other, in English and Chinese, and small talk.

One line a concept. A line translated, or a word replaced by its synonym, still shares
the concept. Written from general knowledge, field by field (family, time, money, work),
not from any labelled pair; `retention.md` says how much it brings.
"""
# ruff: noqa: SIM905, E501 - tables: words read best as words, one row a concept.

from functools import cache
from typing import Final

STOP: Final = frozenset(
    """
    a an and are as at be been being but by for from had has have having he her hers him
    his i if in into is it its me my no not of on or our she so than that the their theirs
    them then there these they this those to too was we were who whom whose will with which
    when while what where would could should can may might do does did done doing just very
    also only such some any each every all both other another about after before because
    since over under again more most much many own same up out down off per via us you your
    yours am get gets got re ve ll himself herself itself themselves however though although
    until till once still yet even ever quite rather really
    """.split()
)
FUNCTION: Final = frozenset(
    "的了是在和也就都而及与着或一个不没有她他它我你们这那之其以为于对把被让给从到向再又还很更最会"
    "能可要想去来上下里中后前时候只每用人说自己但因所如果虽然地得吧吗呢啊"
)

# Days and months are quantities and not names, too. "May" and "March" may be names.
CALENDAR: Final = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays
    thursdays fridays saturdays sundays weekend weekends january february april june july
    august september october november december
    """.split()
)
# Words of talk that says little. They decide only what may go first from scenes that do
# not fit together, never whether a fact is found.
VAGUE_ENGLISH: Final = frozenset(
    """
    altogether anyway apparently basically certain certainly common commonly course
    everybody everyone everything fairly feel feels friendly general generally good
    interesting kind life little lot lots maybe mostly nice nicely normal normally
    nowadays occasionally often overall people perhaps pleasant pleasantly pretty
    probably quite rather relaxed simply somebody somehow someone something sometimes
    somewhat sort sure thing things think thinks thought usual usually various way ways
    well
    """.split()
)
VAGUE_CHINESE: Final = (
    "其实",
    "总是",
    "总归",
    "总的",
    "总之",
    "总而言之",
    "大家",
    "人们",
    "觉得",
    "感觉",
    "心情",
    "气氛",
    "平时",
    "有时",
    "有的",
    "有些",
    "一些",
    "毕竟",
    "反正",
    "慢慢",
    "常常",
    "经常",
    "偶尔",
    "挺",
    "蛮",
    "不错",
    "一般",
    "普遍",
    "所谓",
    "说到底",
    "没什么",
    "没有什么",
    "什么的",
    "日子",
    "生活",
    "道理",
    "各有",
    "顺其自然",
    "说说笑笑",
    "似的",
    "而已",
    "罢了",
    "比较",
    "非常",
    "特别",
)

_CONCEPTS: Final = """
grandmother grandma granny gran nana 奶奶 祖母 外婆 姥姥 外祖母
grandfather grandpa granddad 爷爷 祖父 外公 姥爷
mother mom mum mama 妈妈 母亲 妈 娘
father dad papa 爸爸 父亲 爸 爹
parents 父母 爸妈 双亲
sister sisters 姐姐 妹妹 姐妹 姐
brother brothers 哥哥 弟弟 兄弟 哥
wife spouse 妻子 老婆 太太
husband spouse 丈夫 老公 先生
son 儿子
daughter 女儿 闺女
child children kid kids 孩子 小孩 儿童 娃
baby infant 婴儿 宝宝
uncle 叔叔 舅舅 伯伯
aunt 阿姨 姑姑 姨妈
cousin 表哥 表姐 表弟 表妹 堂哥 堂弟
nephew 侄子 外甥
niece 侄女 外甥女
grandson granddaughter grandchild 孙子 孙女
friend friends pal buddy mate 朋友 好友 友人
girlfriend boyfriend partner 女友 男友 女朋友 男朋友 对象
neighbour neighbor neighbours neighbors 邻居 街坊
colleague colleagues coworker coworkers workmate 同事
boss manager supervisor 老板 上司 领导 经理 主管
teacher tutor instructor teachers 老师 教师 导师
student pupil students pupils 学生
classmate 同学
doctor physician doctors 医生 大夫
nurse 护士
lawyer attorney solicitor 律师
customer client customers clients 客户 顾客
team crew 团队 小组
owner 负责人 主人
landlord 房东
family relatives kin 家人 家庭 亲人
wedding marriage married marry 婚礼 结婚
divorce divorced split separated 离婚
born birth birthday 生日 出生
died death dead die dies late deceased passed 去世 过世 死 亡
funeral burial 葬礼
home house residence 家 房子 住宅
flat apartment 公寓
room 房间 屋
kitchen 厨房
bedroom 卧室
bathroom toilet 卫生间 浴室 厕所
garden yard 花园 院子
roof 屋顶 楼顶
door gate 门
window 窗
key keys 钥匙
lives live living lived resides stays 住 居住
move moves moved moving relocated relocate 搬 搬家 迁
rent rents rented lease tenancy 租 租金 租期
city town 城市 市
village 村子 村
school 学校
university college 大学
hospital clinic 医院 诊所
office 办公室
company firm employer corporation 公司 企业
shop store 店 商店
factory plant 工厂
station 车站 站
airport 机场
library 图书馆
church 教堂
market 市场 集市
buy buys bought buying purchase purchased purchases acquired acquire 买 购买 购入 入手 购
sell sells sold selling 卖 出售 售
pay pays paid paying payment 付 支付 付款 缴
cost costs price prices priced fee fees charge charges 花费 价格 费用 收费 价
cheap cheaper inexpensive 便宜
expensive costly pricey dear 贵 昂贵
money cash funds 钱 资金
salary wage wages income earn earns earned pay 工资 薪水 收入 薪 月薪 赚 挣
save saves saved savings saving 存 储蓄 存款 省
debt loan loans owe owes borrowed borrow lend lent mortgage 贷款 借 欠 债
budget 预算
discount reduction 折扣 优惠
deposit 押金 定金 订金
insurance insured 保险
tax taxes 税
invoice bill bills receipt 发票 账单
refund refunded 退款
contract agreement 合同 协议
bank 银行
gift present presents gifts 礼物 礼品 送
begin begins began begun start starts started starting commence launched launch 开始 启动 起
end ends ended finish finishes finished complete completed conclude 结束 完成 完工 完
stop stops stopped quit quits cease halt halted abandon abandoned gave 停 停止 放弃
continue continues continued carry keep keeps kept keeping 继续 保持 保留
change changes changed alter altered switch switched switches 改 换 变 更改 变更 更换
grow grows grew growth increase increases increased rise rises rose raise raised 增加 增长 升 涨
fall falls fell drop drops dropped decrease decreased decline reduced reduce reduces lower lowered cut 减少 下降 降 减
make makes made making create created creates build builds built building 做 制作 建 创建 造
use uses used using utilise employ 使用 用 采用
need needs needed require requires required requirement must 需要 须 必须 需 必
want wants wanted wish wishes wished desire hopes hope 想要 希望 愿 想
like likes liked enjoy enjoys enjoyed love loves loved fond adore favours prefer prefers preferred preference favourite favorite 喜欢 爱 喜爱 偏好 偏爱 最爱 爱好
dislike dislikes disliked hate hates hated detest loathe stand bear annoys 讨厌 不喜欢 厌恶 反感 烦
fear fears feared afraid scared frightened fearful dread dreads anxious anxiety nervous worry worried worries 怕 害怕 恐惧 担心 焦虑 紧张 担忧
angry anger irritated annoyed furious cross mad upset 生气 愤怒 恼火
happy glad joy pleased delighted cheerful 高兴 开心 快乐
sad sorrow grief unhappy regret regrets regretted sorry 难过 悲伤 后悔 遗憾
proud pride 骄傲 自豪
shy timid embarrassed ashamed 害羞 羞 不好意思
lonely alone solitude single 孤独 独自 一个人 单独
tired exhausted weary fatigue worn 累 疲惫 疲劳
quiet silent silence calm peaceful 安静 沉默 平静
loud noisy noise 吵 噪音 嘈杂
trust trusts trusted believe believes 信任 相信 信
distrust distrusts mistrust suspicious 不信任 怀疑
remember remembers remembered recall memory 记得 回忆 记住
forget forgets forgot forgotten 忘 忘记
promise promised promises vowed swore 答应 承诺
agree agrees agreed consent approve approves approved approval 同意 批准 赞成 审批 认可
refuse refuses refused reject rejects rejected decline declines declined turned denied 拒绝 拒 谢绝
argue argued argument quarrel quarrelled quarreled dispute conflict fight fought row clash 吵架 争吵 争执 冲突 矛盾 吵
help helps helped assist assists assistance support supports supported aid 帮 帮助 帮忙 协助 支持
teach teaches taught teaching instructs 教 教导
learn learns learned learnt study studies studied studying 学 学习 攻读
read reads reading 读 阅读 看书
write writes wrote written writing 写 书写
speak speaks spoke spoken talk talks talked tell tells told say says said mention mentions mentioned 说 讲 谈 提到 告诉
ask asks asked request requests requested 问 请求 询问 要求
answer answers answered reply replies replied respond responds responded response 回答 回复 回应 答复
call calls called phone phones phoned ring telephone 电话 打电话 致电
message messages text texts texted 消息 信息 短信
letter letters mail email emails 信 邮件 信件
meet meets met meeting meetings 会议 见面 见 碰面 开会
visit visits visited visiting visitor 拜访 访问 探望 来访
go goes went gone travel travels travelled traveled trip trips journey 去 旅行 出行 旅游
drive drives drove driving driver 开车 驾驶
car vehicle 车 汽车
bike bicycle cycling cycle cycles 自行车 骑车 单车
train trains railway 火车 列车
bus buses coach 公交 巴士 公交车
plane flight flights fly flies flew 飞机 航班 飞
walk walks walked walking stroll 走 散步 步行
run runs ran running jog jogging 跑 跑步
swim swims swam swimming 游泳
climb climbs climbed climbing 爬 攀登
eat eats ate eating meal meals 吃 饮食 用餐
drink drinks drank drinking 喝 饮
cook cooks cooked cooking 做饭 烹饪 煮 炒
breakfast 早餐 早饭
lunch 午餐 午饭
dinner supper 晚餐 晚饭
tea 茶
coffee 咖啡
milk dairy 牛奶 奶
water 水
beer wine alcohol liquor 酒 啤酒
bread 面包
rice 米饭 米
noodles noodle pasta 面条 面
meat beef pork 肉 牛肉 猪肉
fish seafood 鱼 海鲜
vegetable vegetables vegetarian vegan 蔬菜 素食 吃素 菜
fruit 水果
sugar sweet sweets 糖 甜
salt salty 盐 咸
spicy hot chilli chili 辣
cake pastry 蛋糕 糕点
egg eggs 鸡蛋 蛋
allergy allergic allergies 过敏
intolerance intolerant 不耐受
pain hurts hurt ache aches painful sore 疼 痛 疼痛
sick ill illness disease unwell sickness 病 生病 疾病
medicine medication drug drugs pills pill tablet tablets 药 药物
surgery operation operated 手术
injury injured wound wounded 受伤 伤
diagnosed diagnosis 确诊 诊断
treatment therapy therapist treated 治疗
sleep sleeps slept sleeping asleep insomnia 睡 睡觉 睡眠 失眠
weight weighs 体重
knee 膝 膝盖
back spine 腰 背
eye eyes 眼睛 眼
ear ears hearing 耳朵 耳
hand hands 手
foot feet 脚
head headache headaches 头 头痛
heart 心脏
skin 皮肤
hair 头发
tooth teeth dentist dental 牙 牙齿 牙医
work works worked working job jobs post position employment 工作 上班 职位 岗位
colour color 颜色
black 黑 黑色
white 白 白色
red 红 红色
green 绿 绿色
blue 蓝 蓝色
grey gray 灰 灰色
big large huge great bigger larger 大 巨大
small little tiny smaller compact 小
old elderly ancient older aged 老 旧 古老 年长
new newly fresh 新 全新
used second-hand secondhand 二手
good fine well better best great 好 良好
bad poor worse worst badly 坏 差 糟
fast quick quickly rapid rapidly swift 快 迅速
slow slowly slower 慢 缓慢
early earlier 早
late later 晚 迟
long longer 长
short shorter brief briefly 短
high tall higher 高
low 低
hard difficult tough difficulty struggle struggles challenging 难 困难 艰难
easy simple easily 容易 简单
strong 强 强壮
weak weakness weaker 弱 薄弱
warm warmth 暖 温暖
cold cool chilly 冷 凉
important vital essential crucial 重要 关键
always constantly invariably 总是 一直 始终 一向
never 从不 从来不 决不 绝不 永不 从未
forbidden forbids forbid prohibited banned ban disallowed prohibits not-allowed 禁止 严禁 不许 不准 不得 不可 禁
often frequently regularly frequent regular usually normally typically 经常 常常 通常 时常 常 定期
sometimes occasionally 有时 偶尔
seldom rarely rare hardly barely 很少 罕见 难得
daily everyday 每天 每日 天天
weekly 每周
monthly 每月 月度
yearly annual annually 每年 年度
today 今天
tomorrow 明天
yesterday 昨天
morning mornings 早上 早晨 上午 清晨
afternoon afternoons 下午
evening evenings night nights nightly tonight 晚上 夜里 夜晚 晚间 夜间
spring 春天 春季 春
summer 夏天 夏季 夏
autumn fall 秋天 秋季 秋
winter 冬天 冬季 冬
holiday holidays vacation leave 假期 放假 休假 假
weekday weekdays workday 工作日
deadline due cutoff 截止 期限
schedule scheduled plan plans planned planning 计划 安排 日程 打算
book books novel 书 小说 书籍
film movie movies films cinema 电影
music song songs tune 音乐 歌 歌曲
piano 钢琴
guitar 吉他
violin 小提琴
sing sings sang singing choir 唱 唱歌 合唱
dance dances danced dancing 跳舞 舞蹈 舞
paint paints painted painting draw draws drew drawing 画 绘画 画画
photo photos photograph picture camera 照片 摄影 拍照 相机
game games play plays played playing 游戏 玩
football soccer 足球
chess 象棋 棋
race races marathon 比赛 马拉松
exam exams examination test tests tested testing 考试 测试 试
score scores grade grades marks 成绩 分数
degree diploma certificate certification 学位 证书
language languages 语言
english 英语 英文
chinese mandarin 中文 汉语
french 法语
german 德语
japanese 日语
spanish 西班牙语
cat cats kitten 猫
dog dogs puppy 狗
bird birds 鸟
horse horses 马
plant plants 植物 种植
tree trees 树
flower flowers 花
dream dreams dreamed 梦 梦想
goal goals target targets aim aims objective 目标
reason reasons because cause caused 原因 因为 由于
problem problems issue issues trouble 问题 麻烦
mistake mistakes error errors wrong fault 错误 错 失误 报错
solution solve solved solves fix fixes fixed repair repairs repaired mend mends 修复 解决 修 修理 修补
idea suggestion suggests suggest suggested advise advises advised advice recommend recommends recommended proposes 建议 主意 推荐 劝 提议
decide decides decided decision decisions 决定 决策
choose chooses chose chosen pick picks picked select selected 选 选择 挑 选用
try tries tried attempt attempts attempted 尝试 试图 试
win wins won victory 赢 获胜
lose loses lost losing 输 失去 丢
find finds found discover discovered 发现 找 找到
search look looking seek 搜索 查找 寻找
show shows showed shown display displays 显示 展示
hide hides hid hidden 隐藏 藏
open opens opened opening 打开 开 开放
close closes closed closing shut 关 关闭
send sends sent sending forward forwarded 发送 寄 发 转发
receive receives received get 收到 接收 收
bring brings brought take takes took taken 带 拿
leave leaves left leaving depart departs resigned resign resigns 离开 离职 辞职
return returns returned back 返回 回来 退回 归还
wait waits waited waiting 等 等待
sit sits sat 坐
wear wears wore worn clothes clothing 穿 衣服 戴
clean cleans cleaned cleaning wash washes washed 清洁 打扫 洗 清理 清洗
check checks checked verify verified verifies inspect review reviews reviewed 检查 核对 校验 验证 审核 复核 查
record records recorded log logs logged 记录 日志 录
report reports reported 报告 汇报
share shares shared 分享 共享
allow allows allowed permit permits permitted permission 允许 准许 许可
avoid avoids avoided prevent prevents 避免 防止 避开
join joins joined member members 加入 参加 成员
organise organize organised organized host hosts hosted 组织 举办 主持
lead leads led leader 带领 领导 组长
train trains trained training practise practice practises practices exercise exercises 训练 练习 锻炼 练
deploy deploys deployed deployment release releases released rollout ship ships 部署 发布 上线 发版
rollback revert reverted reverts 回滚
server servers host 服务器
database databases 数据库 库
table tables 表
index indexes indices 索引
query queries 查询
backup backups 备份
restore restores restored recovery recover 恢复 还原
cache caches cached 缓存
queue queues 队列
timeout timeouts 超时
retry retries retried 重试
limit limits limited maximum max cap capped most 上限 限制 最多 最大 至多
minimum min least 下限 最少 至少 最小 不少于 不低于
threshold 阈值 门槛
alert alerts alarm alarms 告警 报警 警报
monitor monitors monitoring 监控
branch branches 分支
merge merges merged 合并
commit commits 提交
version versions 版本
code 代码
file files 文件
folder directory folders 目录 文件夹
script scripts 脚本
service services 服务
user users 用户
account accounts 账号 账户
password passwords 密码
key secret token 密钥 令牌
permission permissions access 权限
config configuration settings setting 配置 设置
environment 环境
production prod live 生产 线上
staging 预发
review reviewer reviewers 评审
delete deletes deleted remove removes removed drop 删除 移除 删
add adds added 添加 加 新增
update updates updated upgrade upgrades upgraded 更新 升级
install installs installed 安装 装
download downloads 下载
upload uploads 上传
data 数据
memory 内存
disk storage 磁盘 存储
network 网络
page pages 页面 页
button 按钮
document documents documentation docs 文档
ticket tickets 工单 票
task tasks 任务
project projects 项目
meeting standup 例会
design designs designed 设计
customer-service support 客服
default defaults 默认
automatic automatically auto 自动
manual manually hand 手动 手工 人工
temporary temporarily 临时 暂时
failure fails failed fail failing 失败 故障
success succeed succeeds passes pass passed 成功 通过
crash crashed crashes broke broken break breaks cracked 崩溃 坏 破
expire expires expired expiry valid 过期 失效 有效期
average mean 平均
total altogether sum 总 总共 共 一共 合计
half 半
first initial initially original originally 首 最初 起初 第一
last final finally eventually 最后 最终
next following 下次 接下来
main mainly primary chief 主要 主
secret secretly private privately 秘密 私 私下
public 公开 公共
free gratis 免费
full whole entire entirely 全 整个 全部 所有
empty 空
different differs 不同
together joint jointly 一起 共同
responsible charge charged 负责
distance far away 距离 远
near close nearby beside next 附近 旁边 近 旁
north northern 北
south southern 南
east eastern 东
west western 西
left 左
right 右
age aged 年龄 岁
name named called names 名字 名 叫
story tale 故事
habit habits routine 习惯
hobby hobbies 爱好
feeling feelings emotion emotions feels feel felt mood 感觉 情绪 心情
attitude 态度
sea ocean 海
river 河 江
mountain mountains hill hiking hike 山 爬山 徒步
island 岛
wood wooden timber 木 木头 木材
stone rock 石
metal iron steel 铁 金属 钢
glass 玻璃
paper 纸
shoe shoes boots 鞋
hat cap 帽子 帽
coat jacket 外套 大衣
ring 戒指
clock watch watches 表 钟 手表
box crate 箱 盒
bag 包 袋
table desk 桌子 桌
chair seat seats 椅子 座位
bed 床
lamp light lights 灯
knife 刀
machine device equipment 机器 设备
computer laptop 电脑
screen 屏幕
battery 电池
tool tools 工具
"""


@cache
def concepts() -> dict[str, tuple[str, ...]]:
    """Return what each word stands for, as keys that no word is equal to."""
    table: dict[str, tuple[str, ...]] = {}
    for line in _CONCEPTS.strip().split("\n"):
        names = line.split()
        for name in names:
            table[name] = (*table.get(name, ()), f"#{names[0]}")
    return table


@cache
def chinese_beginnings() -> dict[str, tuple[int, ...]]:
    """Return how long the words are that begin with two Chinese characters."""
    sizes: dict[str, set[int]] = {}
    for name in concepts():
        if not name.isascii() and len(name) > 1:
            sizes.setdefault(name[:2], set()).add(len(name))
    return {signs: tuple(sorted(found, reverse=True)) for signs, found in sizes.items()}
